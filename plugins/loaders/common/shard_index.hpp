// The index of a sharded model, as Hugging Face writes it (model.safetensors.index.json,
// pytorch_model.bin.index.json): {"metadata": {…}, "weight_map": {tensor name: file name}}.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "json_util.hpp"

namespace loading {

struct Shard {
  std::string_view file;                  // as it stands in the index
  std::vector<std::string_view> tensors;  // in the order of the index
};

class ShardIndex {
 public:
  /// Null when the JSON has no weight_map; throws BadFile when it is no JSON or something is wrong
  /// with it. The bytes need not outlive the index.
  static std::unique_ptr<ShardIndex> read(std::string_view bytes);

  /// By file name.
  const std::vector<Shard>& shards() const { return shards_; }

 private:
  void read_map(json::object map);
  json::document document_;  // owns the texts
  std::vector<Shard> shards_;
};

/// Throws BadFile when a tensor that the index places in the shard was not found there.
void check_shard(const Shard& shard, std::vector<std::string_view> found);

}  // namespace loading
