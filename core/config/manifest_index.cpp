#include "core/config/manifest_index.hpp"

#include <charconv>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

/// The format's version: changes with the members that `pass` writes.
constexpr std::string_view kHeader = "tmeter plugin index 4\n";
constexpr uintmax_t kMaxIndexBytes = 8 << 20;
constexpr std::string_view kManifestSuffix = ".tmeter.toml";

/// Texts as `LENGTH:text`, numbers as `NUMBER:`, lists after their length.
class Writer {
 public:
  void operator()(const std::string& text) { (*this)(text.size()), out += text; }
  void operator()(std::integral auto number) { out += std::to_string(number) + ":"; }
  template <class T>
  void operator()(const std::vector<T>& items) {
    (*this)(items.size());
    for (const auto& item : items) pass(*this, item);
  }

  std::string out{kHeader};
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  void operator()(std::string& text) {
    const auto length = number<size_t>();
    if (length > rest_.size()) refuse();
    text = rest_.substr(0, length);
    rest_.remove_prefix(length);
  }
  void operator()(std::integral auto& value) { value = number<std::decay_t<decltype(value)>>(); }
  template <class T>
  void operator()(std::vector<T>& items) {
    auto count = number<size_t>();
    if (count > rest_.size()) refuse();  // each takes at least one character
    for (; count > 0; --count) pass(*this, items.emplace_back());
  }
  bool at_end() const { return rest_.empty(); }

 private:
  [[noreturn]] static void refuse() { throw Error(ErrorKind::kPlugin, "it is damaged"); }

  template <class T>
  T number() {
    T value{};
    const auto* end = rest_.data() + rest_.size();
    const auto [stop, error] = std::from_chars(rest_.data(), end, value);
    if (error != std::errc() || stop == end || *stop != ':') refuse();
    rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()) + 1);
    return value;
  }

  std::string_view rest_;
};

// The members of each type, in file order. Writer and reader share these functions.
void pass(auto& io,
          auto& text) requires std::same_as<std::remove_cvref_t<decltype(text)>, std::string> {
  io(text);
}
template <class T>
concept Match = std::same_as<std::remove_const_t<T>, LoaderMatch>;
template <class T>
concept Loader = std::same_as<std::remove_const_t<T>, LoaderManifest>;
template <class T>
concept ReportWriter = std::same_as<std::remove_const_t<T>, WriterManifest>;
template <class T>
concept Indexed = std::same_as<std::remove_const_t<T>, IndexedManifest>;

void pass(auto& io, Match auto& m) { io(m.conditions), io(m.score); }
void pass(auto& io, Loader auto& l) { io(l.name), io(l.title), io(l.matches); }
void pass(auto& io, ReportWriter auto& w) { io(w.name), io(w.extension), io(w.media_type); }
void pass(auto& io, Indexed auto& entry) {
  io(entry.made_from.size), io(entry.made_from.mtime);
  auto& m = entry.manifest;
  for (auto* text : {&m.id, &m.name, &m.version, &m.description, &m.unavailable, &m.rights,
                     &m.when_missing, &m.made_from.sha256, &m.made_from.build_id})
    io(*text);
  for (auto* texts : {&m.needs, &m.metrics, &m.options, &m.handles, &m.shape_rules, &m.decoders,
                      &m.propagators, &m.executors, &m.measured, &m.library_folders})
    io(*texts);
  io(m.loaders), io(m.writers);
  io(m.schema), io(m.abi_minor), io(m.made_from.size), io(m.made_from.mtime);
}

std::string read_file(const std::string& file, size_t size) {
  std::string text(size, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

}  // namespace

ManifestIndex index_of(const std::string& folder) {
  ManifestIndex index;
  std::error_code failed;
  for (const auto& file : fs::directory_iterator(folder, failed)) {
    const auto name = file.path().filename().string();
    if (!name.ends_with(kManifestSuffix)) continue;
    const auto path = file.path().string();
    const auto stamp = stamp_of(path);
    index[name] = {stamp, read_manifest(path)};
  }
  if (failed)
    throw Error(ErrorKind::kUsage, "folder " + folder + " cannot be read: " + failed.message());
  return index;
}

std::string write_index(const ManifestIndex& index) {
  Writer out;
  for (const auto& [name, entry] : index) out(name), pass(out, entry);
  return std::move(out.out);
}

ManifestIndex parse_index(std::string_view text) {
  if (!text.starts_with(kHeader))
    throw Error(ErrorKind::kPlugin, "it is not one of this version of tmeter");
  Reader in(text.substr(kHeader.size()));
  ManifestIndex index;
  while (!in.at_end()) {
    std::string name;
    in(name);
    pass(in, index[name]);
  }
  return index;
}

ManifestIndex read_index(const std::string& folder) {
  const auto file = folder + "/" + std::string(kIndexName);
  std::error_code none;
  const auto status = fs::status(file, none);
  if (!fs::exists(status)) return {};
  try {
    if (!fs::is_regular_file(status)) throw Error(ErrorKind::kPlugin, "it is not a regular file");
    const auto size = fs::file_size(file, none);
    if (size > kMaxIndexBytes) throw Error(ErrorKind::kPlugin, "it is longer than 8 MiB");
    if (const auto why = other_writers(file); !why.empty()) throw Error(ErrorKind::kPlugin, why);
    return parse_index(read_file(file, size));
  } catch (const Error& e) {
    throw Error(ErrorKind::kPlugin, "the index of plugins " + file + " is not used: " + e.what() +
                                        "; write a new one with `tmeter plugin index " + folder +
                                        "` or remove it");
  }
}

}  // namespace tmeter::core
