#include "storages.hpp"

#include <cstring>

#include "../common/bad_file.hpp"
#include "dtypes.hpp"

namespace checkpoint {
namespace {

using loading::BadFile;
using loading::in_quotes;

int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a < 0 || __builtin_mul_overflow(a, b, &product))
    throw BadFile("a storage claims " + std::to_string(a) + " elements");
  return product;
}

/// Keys are strings, in some old files integers.
std::string key_text(const Value& key) {
  if (key.is(Kind::kText)) return std::string(key.text);
  if (key.is(Kind::kInt)) return std::to_string(key.integer);
  throw BadFile("a storage has a key that is not a string");
}

/// View of an old file: (key, offset, size), or None.
int64_t view_offset(const std::vector<const Value*>& id) {
  if (id.size() < 6 || !id[5]->is(Kind::kTuple)) return 0;
  const auto& view = id[5]->list();
  if (view.size() != 3 || !view[1]->is(Kind::kInt) || view[1]->integer < 0)
    throw BadFile("a storage is a view of another one in a form that torch.save does not write");
  return view[1]->integer;
}

}  // namespace

StorageId storage_id(const Value& reference) {
  const auto& id = reference.list();
  if (id.size() < 5 || !id[1]->is(Kind::kGlobal) || !id[4]->is(Kind::kInt))
    throw BadFile("a storage is described in a form that torch.save does not write");
  const auto dtype = storage_dtype(id[1]->text);
  if (!dtype) throw BadFile("a storage is of the unknown type " + in_quotes(id[1]->text));
  return {key_text(*id[2]), *dtype, id[4]->integer, view_offset(id)};
}

Storage Storages::find(const Value& reference) {
  const auto id = storage_id(reference);
  const auto bytes = times(id.numel, id.dtype.bytes());
  const auto skipped = times(id.view_offset, id.dtype.bytes());
  // torch.save never writes a storage with two types.
  const auto& declared = declared_.try_emplace(id.key, Declared{id.dtype, id.numel}).first->second;
  const bool is_view = reference.list().size() > 5 && reference.list()[5]->is(Kind::kTuple);
  if (declared.dtype.id() != id.dtype.id() || (declared.numel != id.numel && !is_view))
    throw BadFile("storage " + in_quotes(id.key) + " is declared with " +
                  std::to_string(declared.numel) + " elements of " +
                  std::string(declared.dtype.name()) + ", and then " + std::to_string(id.numel) +
                  " of " + std::string(id.dtype.name()));
  const auto place = this->place(id.key);
  int64_t end = 0;
  // CVE-2026-24747: a declared size beyond the record reads foreign memory.
  if (__builtin_add_overflow(bytes, skipped, &end) || end > place.bytes)
    throw BadFile("storage " + in_quotes(id.key) + " is declared with " + std::to_string(bytes) +
                  " bytes, but the file has " + std::to_string(place.bytes) +
                  " of them (truncated?)");
  const auto offset = place.file_offset < 0 ? -1 : place.file_offset + skipped;
  return {skipped ? id.key + "+" + std::to_string(skipped) : id.key, id.dtype, bytes, offset,
          place.bytes > 0};
}

Storages::Place ZipStorages::place(std::string_view key) {
  const auto name = folder_ + "data/" + std::string(key);
  const auto entry = source_.find(name);
  if (!entry) throw BadFile("the archive has no record " + in_quotes(name));
  return {static_cast<int64_t>(entry->size),
          entry->stored ? static_cast<int64_t>(entry->offset) : -1};
}

void LegacyStorages::declare(std::string_view key, tmeter::DType dtype) {
  declared_.emplace(std::string(key), dtype);
}

void LegacyStorages::locate(const Value& keys, std::string_view file, size_t at) {
  if (!keys.is(Kind::kList)) throw BadFile("the storages are not a list");
  for (const auto* key : keys.list()) {
    const auto name = key_text(*key);
    const auto declared = declared_.find(name);
    if (declared == declared_.end())
      throw BadFile("storage " + in_quotes(name) + " is in the file, but no tensor refers to it");
    int64_t numel = 0;
    if (file.size() - at < sizeof numel)
      throw BadFile("the file ends before storage " + in_quotes(name) + " (truncated?)");
    std::memcpy(&numel, file.data() + at, sizeof numel);  // little-endian, as sys_info said
    at += sizeof numel;
    const auto bytes = times(numel, declared->second.bytes());
    if (static_cast<uint64_t>(bytes) > file.size() - at)
      throw BadFile("storage " + in_quotes(name) + " claims " + std::to_string(bytes) +
                    " bytes, the file has " + std::to_string(file.size() - at) +
                    " left (truncated?)");
    if (!places_.try_emplace(name, Place{bytes, static_cast<int64_t>(at)}).second)
      throw BadFile("storage " + in_quotes(name) + " occurs twice in the file");
    at += static_cast<size_t>(bytes);
  }
}

Storages::Place LegacyStorages::place(std::string_view key) {
  const auto it = places_.find(std::string(key));
  if (it == places_.end())
    throw BadFile("storage " + in_quotes(key) + " is not among those in the file");
  return it->second;
}

}  // namespace checkpoint
