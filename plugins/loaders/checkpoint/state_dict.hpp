// Adds the tensors of a state_dict to the graph under their dotted names.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "../common/weight_tree.hpp"
#include "tensors.hpp"

namespace checkpoint {

/// Describes tensors for the host.
class Describer {
 public:
  Describer() = default;
  /// For a shard. Shards number their storages from 0, so `name` distinguishes them.
  Describer(const tmeter_source* shard, std::string_view name) : shard_(shard), prefix_(name) {
    prefix_ += "/";
  }

  /// Valid until the next call; the caller sets kind and owner.
  tmeter_tensor_desc describe(const std::string& name, const Tensor& tensor);
  size_t without_type() const { return without_type_; }

 private:
  const tmeter_source* shard_ = nullptr;
  std::string prefix_, key_;
  size_t without_type_ = 0;
};

struct StateDict {
  std::vector<std::string> names;     // names of the tensors
  std::vector<std::string> left_out;  // objects with tensors of unsupported form
};

/// Adds the tensors of a dict and of the dicts inside it; state of optimizers only if `everything`.
StateDict push_state_dict(const Value& dict, bool everything, Tensors& tensors,
                          Describer& describer, loading::TensorKinds& kinds,
                          loading::WeightTree& tree);

}  // namespace checkpoint
