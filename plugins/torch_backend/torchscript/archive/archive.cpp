#include "torchscript/archive/archive.hpp"

#include <charconv>

namespace tmeter::torch_backend {
namespace {

constexpr std::string_view kConstants = "/constants.pkl";

[[noreturn]] void refuse(const std::string& what) { throw Error(TMETER_BAD_MODEL, what); }

/// The shortest folder with a constants.pkl: an archive inside the archive has a longer one.
std::string root_folder(const Source& source) {
  std::string root;
  for (size_t i = 0; i < source.entry_count(); ++i) {
    const auto name = source.entry(i).name;
    if (!name.ends_with(kConstants)) continue;
    const auto folder = name.substr(0, name.size() - kConstants.size() + 1);
    if (root.empty() || folder.size() < root.size()) root = folder;
  }
  if (root.empty()) refuse("not a TorchScript archive: it has no constants.pkl");
  return root;
}

}  // namespace

Archive::Archive(const Source& source) : source_(source), root_(root_folder(source)) {
  version_ = read_version();
  require_little_endian();
}

std::optional<Entry> Archive::find(std::string_view record) const {
  return source_.find(root_ + std::string(record));
}

std::vector<std::pair<std::string, Entry>> Archive::folder(const std::string& name) const {
  const auto prefix = root_ + name;
  std::vector<std::pair<std::string, Entry>> out;
  for (size_t i = 0; i < source_.entry_count(); ++i) {
    const auto entry = source_.entry(i);
    if (!entry.name.starts_with(prefix)) continue;
    out.emplace_back(entry.name.substr(prefix.size()), entry);
  }
  return out;
}

std::string_view Archive::read(std::string_view record) const {
  const auto entry = find(record);
  if (!entry) refuse("the TorchScript archive is damaged: it has no '" + std::string(record) + "'");
  return source_.read(*entry);
}

// Most files have the version in "version", some of torch 1.6 or newer in ".data/version".
uint64_t Archive::read_version() const {
  const auto entry = find(".data/version") ? find(".data/version") : find("version");
  if (!entry) refuse("the TorchScript archive is damaged: it has no 'version'");
  const auto text = read(*entry);
  uint64_t version = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), version);
  if (end.ec != std::errc())
    refuse("the TorchScript archive is damaged: its 'version' is not a number");
  return version;
}

void Archive::require_little_endian() const {
  const auto entry = find("byteorder");
  if (entry && read(*entry).starts_with("big")) {
    refuse("the weights are stored big-endian; save the model again on a little-endian machine");
  }
}

}  // namespace tmeter::torch_backend
