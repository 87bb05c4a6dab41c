// The header of a GGUF file: metadata, and a table of tensors before their bytes. Format:
// docs/gguf.md and src/gguf.cpp of ggml.
//
//   "GGUF", version, number of tensors, number of pairs
//   pairs    key, type, value
//   tensors  name, rank, dims (fastest first), type, offset
//   padding to `general.alignment`
//   data     the tensors, each padded to the alignment
//
// Versions 1 to 3. Version 1 has counts of 32 bits. A big-endian file has no mark: the bytes of its
// version are swapped.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ggml_types.hpp"
#include "metadata.hpp"

namespace gguf {

struct StoredTensor {
  std::string_view name;
  int32_t type_id = 0;
  const GgmlType* type = nullptr;  // null: an id that ggml does not have
  std::vector<int64_t> dims;       // as PyTorch counts them: slowest first
  int64_t begin = 0, bytes = 0;    // in the file

  /// "ggml.q4_k"; "ggml.type-99" for an unknown one.
  std::string encoding() const {
    return type ? std::string(type->encoding) : "ggml.type-" + std::to_string(type_id);
  }
  bool has_known_blocks() const { return type && type->block_elements > 0; }
};

class Header {
 public:
  static bool plausible(std::string_view file) { return file.starts_with("GGUF"); }

  /// Throws BadFile for every file that ggml refuses, and for more than 256 MiB of metadata. Unlike
  /// ggml it accepts version 1, big-endian files, names of any length, arrays of arrays, tensors in
  /// any order and types that ggml does not have.
  explicit Header(std::string_view file);

  uint32_t version() const { return version_; }
  bool big_endian() const { return big_endian_; }
  const Metadata& metadata() const { return metadata_; }
  /// In the order of the file.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }

 private:
  void read_version(Cursor& cursor);
  uint64_t read_alignment() const;
  void read_tensors(Cursor& cursor, uint64_t count);
  StoredTensor read_tensor(Cursor& cursor) const;

  struct Place {
    StoredTensor* tensor;
    uint64_t begin;  // after the header
    uint64_t space;  // to the next tensor
  };
  static void choose_blocks(const std::vector<Place>& places, uint64_t alignment);
  void place_tensors(size_t header, uint64_t alignment, size_t file_size);
  static uint64_t place(const Place& p, const StoredTensor* next, uint64_t expected,
                        uint64_t alignment, uint64_t size);

  uint32_t version_ = 0;
  bool big_endian_ = false;
  Metadata metadata_;
  std::vector<StoredTensor> tensors_;
};

// The files of a model that llama-gguf-split has split: NAME-00001-of-00009.gguf and so on. Each
// one has tensors and states in `split.no` (from 0), `split.count` and `split.tensors.count` which
// one it is; the first has the model's metadata.

struct Split {
  uint64_t number = 0;              // from 0
  uint64_t count = 1;               // of files
  std::optional<uint64_t> tensors;  // of all files
};

/// Part 1 of 1 for a file that is not split. Throws BadFile for impossible numbers.
Split split_of(const Metadata& metadata);

/// The names of all files, in order, by the name of one of them. Throws BadFile if its name does
/// not match its place.
std::vector<std::string> shard_names(std::string_view name, const Split& split);

/// "NAME-00002-of-00009.gguf and 3 others" and so on, for messages.
std::string listed(const std::vector<std::string>& names);

}  // namespace gguf
