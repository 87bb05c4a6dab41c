// The index of a sharded model, as Hugging Face writes it (model.safetensors.index.json,
// pytorch_model.bin.index.json): {"metadata": {…}, "weight_map": {tensor name: file name}}.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "json_util.hpp"

namespace loading {

struct Shard {
  std::string_view file;                  // as in the index
  std::vector<std::string_view> tensors;  // in the order of the index
};

class ShardIndex {
 public:
  /// Returns null if the JSON has no weight_map. Throws BadFile for malformed JSON or a malformed
  /// weight_map. The bytes need not outlive the index.
  static std::unique_ptr<ShardIndex> read(std::string_view bytes);

  /// By file name.
  const std::vector<Shard>& shards() const { return shards_; }

 private:
  void read_map(json::object map);
  json::document document_;  // owns the texts
  std::vector<Shard> shards_;
};

/// Throws BadFile if a tensor that the index places in the shard is not among `found`.
void check_shard(const Shard& shard, std::vector<std::string_view> found);

}  // namespace loading
