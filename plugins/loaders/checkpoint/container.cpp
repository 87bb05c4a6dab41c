#include "container.hpp"

#include <algorithm>
#include <optional>

#include "../common/bad_file.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;
using loading::in_quotes;

constexpr std::string_view kPickle = "data.pkl";

/// NAME/data.pkl, or data.pkl in an archive that was packed again without its folder.
std::optional<tmeter::Entry> find_pickle(const tmeter::Source& source) {
  if (auto flat = source.find(kPickle)) return flat;
  for (size_t i = 0; i < source.entry_count(); ++i) {
    const auto entry = source.entry(i);
    const auto slash = entry.name.find('/');
    if (slash != std::string_view::npos && entry.name.substr(slash + 1) == kPickle) return entry;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_big_endian() {
  throw BadFile("it was saved on a big-endian machine, with the bytes of each number reversed",
                "load it with PyTorch on this machine and save it again");
}

void read_zip(const tmeter::Source& source, Saved& saved) {
  const auto pickle = find_pickle(source);
  if (!pickle) throw BadFile("the archive holds no data.pkl");
  const std::string folder(pickle->name.substr(0, pickle->name.size() - kPickle.size()));
  if (const auto order = source.find(folder + "byteorder"); order && source.read(*order) == "big")
    refuse_big_endian();
  auto read = Unpickler(source.read(*pickle), std::string(kPickle), 0, saved.arena).run();
  saved.root = read.root;
  saved.called = std::move(read.called);
  saved.storages = std::make_unique<ZipStorages>(source, folder);
  saved.format = "torch.save checkpoint (zip)";
}

/// 0x1950a86a20f9469cfc6c of torch/serialization.py: as the bytes of protocols 2 to 5, and as the
/// digits of protocol 1.
bool is_magic(const Value& v) {
  constexpr std::string_view kBytes = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  return v.is(Kind::kBigInt) && (v.text == kBytes || v.text == "119547037146038801333356");
}

/// One pickle after the other in a mapped file.
class Pickles {
 public:
  Pickles(std::string_view file, Arena& arena) : file_(file), arena_(arena) {}
  Pickle next() {
    auto pickle = Unpickler(file_.substr(at_), "", at_, arena_).run();
    at_ += pickle.end;
    return pickle;
  }
  size_t at() const { return at_; }

 private:
  std::string_view file_;
  Arena& arena_;
  size_t at_ = 0;
};

void check_machine(const Value& info) {
  const auto* little = info.find("little_endian");
  if (!little || !little->is(Kind::kBool))
    throw BadFile("it does not state the byte order of the machine that saved it");
  if (little->integer == 0) refuse_big_endian();
}

void read_legacy(std::string_view file, Saved& saved) {
  Pickles pickles(file, saved.arena);
  const auto* magic = pickles.next().root;
  if (!is_magic(*magic))
    throw BadFile("this is a pickle, but not one that torch.save wrote",
                  "load it in Python and save its weights with torch.save");
  const auto* version = pickles.next().root;
  if (!version->is(Kind::kInt) || version->integer != 1001)
    throw BadFile("its version is not 1001, the only one torch.save has had");
  check_machine(*pickles.next().root);
  auto object = pickles.next();
  auto storages = std::make_unique<LegacyStorages>();
  for (const auto* reference : object.storages) {
    const auto id = storage_id(*reference);
    storages->declare(id.key, id.dtype);
  }
  const auto* keys = pickles.next().root;
  storages->locate(*keys, file, pickles.at());
  saved.root = object.root;
  saved.called = std::move(object.called);
  saved.storages = std::move(storages);
  saved.format = "torch.save checkpoint (legacy)";
}

}  // namespace

bool looks_saved(const tmeter::Source& source) {
  if (source.entry_count() > 0) return find_pickle(source).has_value();
  return source.bytes().starts_with('\x80') || source.bytes().starts_with("L1195470371460388");
}

std::unique_ptr<Saved> read_saved(const tmeter::Source& source) {
  auto saved = std::make_unique<Saved>();
  if (source.entry_count() > 0) {
    read_zip(source, *saved);
  } else {
    read_legacy(source.bytes(), *saved);
  }
  return saved;
}

}  // namespace checkpoint
