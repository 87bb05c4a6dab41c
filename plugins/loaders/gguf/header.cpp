#include "header.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_set>

#include "../common/weight_tree.hpp"

namespace gguf {
namespace {

using loading::in_quotes;

constexpr uint32_t kNewestVersion = 3;
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint32_t kMaxRank = 4;             // GGML_MAX_DIMS
constexpr uint64_t kMaxTensors = 2'000'000;  // of the graph

/// The product of its dims; throws if it exceeds 63 bits.
int64_t numel_of(const StoredTensor& t) {
  if (std::find(t.dims.begin(), t.dims.end(), 0) != t.dims.end()) return 0;
  int64_t numel = 1;
  for (const auto d : t.dims)
    if (__builtin_mul_overflow(numel, d, &numel))
      throw BadFile("its shape has more elements than any file");
  return numel;
}

/// Bytes of all elements in blocks of this type; throws if rows are not whole blocks.
int64_t bytes_of(const StoredTensor& t, const GgmlType& type) {
  const int64_t row = t.dims.empty() ? 1 : t.dims.back();
  if (row % type.block_elements != 0)
    throw BadFile("its rows of " + std::to_string(row) + " elements are not a multiple of the " +
                  std::to_string(type.block_elements) + " in a block of " +
                  std::string(type.encoding));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(numel_of(t) / type.block_elements, type.block_bytes, &bytes))
    throw BadFile("its shape needs more bytes than any file has");
  return bytes;
}

uint64_t padded(uint64_t bytes, uint64_t alignment) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(bytes, alignment - 1, &sum))
    throw BadFile("its alignment of " + std::to_string(alignment) + " leads beyond any file");
  return sum & ~(alignment - 1);
}

/// Whether the blocks of this type fill the space up to the next tensor, or to the end of the file.
bool fills(const StoredTensor& t, const GgmlType& type, uint64_t space, uint64_t alignment) {
  const int64_t row = t.dims.empty() ? 1 : t.dims.back();
  if (row % type.block_elements != 0) return false;
  const auto bytes = static_cast<uint64_t>(bytes_of(t, type));
  return bytes == space || padded(bytes, alignment) == space;
}

}  // namespace

Header::Header(std::string_view file) {
  if (!plausible(file)) throw BadFile("it does not begin with 'GGUF'");
  Cursor cursor(file);
  cursor.go_to(4);
  read_version(cursor);
  const auto tensors = cursor.count();
  const auto pairs = cursor.count();
  metadata_.read(cursor, pairs);
  const auto alignment = read_alignment();
  read_tensors(cursor, tensors);
  place_tensors(cursor.at(), alignment, file.size());
}

void Header::read_version(Cursor& cursor) {
  version_ = cursor.number<uint32_t>();
  if (version_ != 0 && (version_ & 0xffff) == 0) {
    big_endian_ = true;
    version_ = byte_swapped(version_);
    cursor.swap_bytes();
  }
  if (version_ == 0 || version_ > kNewestVersion)
    throw BadFile(
        "it has the GGUF version " + std::to_string(version_) + "; tmeter reads versions 1 to 3",
        "convert it again with a llama.cpp of those versions");
  if (version_ == 1) cursor.use_short_counts();
}

uint64_t Header::read_alignment() const {
  const auto* value = metadata_.find("general.alignment");
  if (!value) return kDefaultAlignment;
  const auto alignment = metadata_.find_size("general.alignment").value_or(0);
  if (value->type != ValueType::kUint32 || alignment == 0 || (alignment & (alignment - 1)) != 0)
    throw BadFile("general.alignment is " + std::to_string(alignment) +
                  ", not a power of two of 32 bits");
  return alignment;
}

void Header::read_tensors(Cursor& cursor, uint64_t count) {
  const size_t least = cursor.count_size() + 4 + 4 + 8;
  if (count > cursor.left() / least)
    throw BadFile("it claims " + std::to_string(count) + " tensors; " + cursor.the_rest());
  if (count > kMaxTensors)
    throw BadFile("it has " + std::to_string(count) + " tensors; tmeter reads at most 2,000,000");
  std::unordered_set<std::string_view, tmeter::TextHash> names;
  for (uint64_t i = 0; i < count; ++i) {
    const auto name = loading::within([&] { return "tensor " + std::to_string(i); },
                                      [&] { return cursor.text(); });
    if (name.empty()) throw BadFile("tensor " + std::to_string(i) + " has no name");
    loading::check_name(name);
    if (!names.insert(name).second)
      throw BadFile("the tensor " + in_quotes(name) + " occurs twice");
    loading::within([&] { return "tensor " + in_quotes(name); },
                    [&] { tensors_.push_back(read_tensor(cursor)); });
    tensors_.back().name = name;
  }
}

StoredTensor Header::read_tensor(Cursor& cursor) const {
  StoredTensor t;
  const auto rank = cursor.number<uint32_t>();
  if (rank > kMaxRank)
    throw BadFile("it has " + std::to_string(rank) + " dims; GGUF has at most 4");
  for (uint32_t i = 0; i < rank; ++i) {
    const auto dim = cursor.count();
    if (dim > INT64_MAX) throw BadFile("its dim " + std::to_string(i) + " is negative");
    t.dims.push_back(static_cast<int64_t>(dim));
  }
  std::reverse(t.dims.begin(), t.dims.end());
  numel_of(t);  // throws for more than any file has
  t.type_id = cursor.number<int32_t>();
  t.type = ggml_type(t.type_id);
  const auto offset = cursor.number<uint64_t>();
  if (offset > INT64_MAX)
    throw BadFile("its offset " + std::to_string(offset) + " leads beyond any file");
  t.begin = static_cast<int64_t>(offset);
  return t;
}

/// If an id has two kinds of blocks, chooses the one that matches the offsets of all its tensors.
void Header::choose_blocks(const std::vector<Place>& places, uint64_t alignment) {
  for (const auto& other : kOtherBlocks) {
    const auto* usual = ggml_type(other.id);
    const auto all_fill = [&](const GgmlType& type) {
      return std::all_of(places.begin(), places.end(), [&](const Place& p) {
        return p.tensor->type != usual || fills(*p.tensor, type, p.space, alignment);
      });
    };
    if (all_fill(*usual) || !all_fill(other)) continue;
    for (const auto& p : places)
      if (p.tensor->type == usual) p.tensor->type = &other;
  }
}

/// Each byte of the data belongs to one tensor or to its padding, as ggml demands. The bytes of a
/// tensor with an unknown type end where the next one begins.
void Header::place_tensors(size_t header, uint64_t alignment, size_t file_size) {
  if (tensors_.empty()) return;
  const auto data = padded(header, alignment);
  const uint64_t size = file_size > data ? file_size - data : 0;
  std::vector<Place> places;
  for (auto& t : tensors_) places.push_back({&t, static_cast<uint64_t>(t.begin), 0});
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.begin < b.begin; });
  for (size_t i = 0; i < places.size(); ++i) {
    const auto end = i + 1 < places.size() ? places[i + 1].begin : size;
    places[i].space = end > places[i].begin ? end - places[i].begin : 0;
  }
  choose_blocks(places, alignment);
  uint64_t expected = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto* next = i + 1 < places.size() ? places[i + 1].tensor : nullptr;
    loading::within([&] { return "tensor " + in_quotes(places[i].tensor->name); },
                    [&] { expected = place(places[i], next, expected, alignment, size); });
    places[i].tensor->begin += static_cast<int64_t>(data);
  }
}

/// Checks the bytes of a tensor; returns where the next one must begin.
uint64_t Header::place(const Place& p, const StoredTensor* next, uint64_t expected,
                       uint64_t alignment, uint64_t size) {
  auto& t = *p.tensor;
  if (p.begin % alignment != 0)
    throw BadFile("its offset " + std::to_string(p.begin) + " is not a multiple of the alignment " +
                  std::to_string(alignment));
  const bool has_size = t.has_known_blocks();
  t.bytes = has_size ? bytes_of(t, *t.type) : static_cast<int64_t>(p.space);
  const auto bytes = static_cast<uint64_t>(t.bytes);
  if (next && bytes > p.space) throw BadFile("it overlaps " + in_quotes(next->name));
  if (p.begin > size || bytes > size - p.begin)
    throw BadFile("its " + std::to_string(bytes) + " bytes at offset " + std::to_string(p.begin) +
                  " are not in the file, which has " + std::to_string(size) +
                  " after its header (truncated?)");
  if (p.begin > expected)
    throw BadFile("it begins after a gap of " + std::to_string(p.begin - expected) + " bytes");
  return has_size ? padded(p.begin + bytes, alignment) : p.begin + p.space;
}

namespace {

constexpr uint64_t kMaxFiles = 10'000;  // of a source

/// "-00002-of-00009.gguf"
std::string ending(uint64_t number, uint64_t count) {
  char text[64];
  std::snprintf(text, sizeof text, "-%05llu-of-%05llu.gguf",
                static_cast<unsigned long long>(number + 1),
                static_cast<unsigned long long>(count));
  return text;
}

}  // namespace

Split split_of(const Metadata& metadata) {
  Split s;
  s.count = metadata.find_size("split.count").value_or(1);
  s.number = metadata.find_size("split.no").value_or(0);
  s.tensors = metadata.find_size("split.tensors.count");
  if (s.count == 0) s.count = 1;  // as llama.cpp: not split
  if (s.number >= s.count)
    throw BadFile("split.no is " + std::to_string(s.number) + " of " + std::to_string(s.count) +
                  " files");
  if (s.count > kMaxFiles)
    throw BadFile("split.count is " + std::to_string(s.count) +
                  "; tmeter reads at most 10,000 files");
  return s;
}

std::vector<std::string> shard_names(std::string_view name, const Split& split) {
  const auto end = ending(split.number, split.count);
  if (!name.ends_with(end))
    throw BadFile("it is part " + std::to_string(split.number + 1) + " of " +
                      std::to_string(split.count) + ", but its name does not end in '" + end + "'",
                  "give it the name that it was downloaded from");
  name.remove_suffix(end.size());
  std::vector<std::string> out;
  for (uint64_t i = 0; i < split.count; ++i)
    out.push_back(std::string(name) + ending(i, split.count));
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMaxNamedShards = 5;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMaxNamedShards); ++i)
    out += (i > 0 ? ", " : "") + loading::in_quotes(names[i]);
  if (names.size() > kMaxNamedShards)
    out += " and " + std::to_string(names.size() - kMaxNamedShards) + " others";
  return out;
}

}  // namespace gguf
