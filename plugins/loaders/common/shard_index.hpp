// The index of a sharded model, as Hugging Face writes it (model.safetensors.index.json,
// pytorch_model.bin.index.json): {"metadata": {…}, "weight_map": {tensor name: file name}}.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tmeter/cpp/loader.hpp>
#include <vector>

#include "json_util.hpp"

namespace loading {

struct Shard {
  std::string_view file;                  // name in the index
  std::vector<std::string_view> tensors;  // in the order of the index
};

class ShardIndex {
 public:
  /// Returns null if the JSON has no weight_map. Throws BadFile for malformed JSON or a malformed
  /// weight_map. The bytes need not outlive the index.
  static std::unique_ptr<ShardIndex> read(std::string_view bytes);

  /// Shards by file name.
  const std::vector<Shard>& shards() const { return shards_; }

 private:
  void read_map(json::object map);
  json::document document_;  // owns the strings
  std::vector<Shard> shards_;
};

/// "model-00002-of-00009.safetensors"
bool is_shard(std::string_view file_name);

/// "file 2 of 9" for the path of one shard, whose totals are not the model's; else empty.
std::string part_of_shards(std::string_view path);

/// Git LFS leaves a few hundred bytes in place of a file that it has not fetched.
bool is_lfs_pointer(std::string_view bytes);

enum class ShardState { kPresent, kMissing, kLfsPointer };

/// Throws BadFile that names all missing shards, or all Git LFS pointers, or a shard that is not in
/// the folder of the index. `state_of` gets only names of files in this folder.
void require_shards(const ShardIndex& index,
                    const std::function<ShardState(std::string_view file)>& state_of);
/// The same for shards beside `index_file`.
void require_shards(const ShardIndex& index, const tmeter::Source& index_file);

/// Throws BadFile if a tensor that the index places in the shard is not among `found`.
void check_shard(const Shard& shard, std::vector<std::string_view> found);

}  // namespace loading
