// LoRA adapters: beside a product with a weight, two small products with trained matrices, as peft
// adds them; everything else is frozen.
#pragma once
#include <optional>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "optimizers.hpp"

namespace training {

/// result + (input × Aᵀ × Bᵀ) · scaling, A: rank × in, B: out × rank.
struct Adapter {
  tmeter::Value input;
  tmeter::Count rows = 0, in = 0, out = 0, rank = 0;
  tmeter::Count macs() const { return rows * rank * (in + out); }
};

class Adapters {
 public:
  Adapters() = default;
  /// `text`: "r:16,targets:q_proj|v_proj": names or paths of modules, patterns with * and ?. Empty:
  /// none. Throws Error(TMETER_BAD_USAGE) when it cannot be read, or no linear layer
  /// matches a target.
  Adapters(const tmeter::Graph& graph, std::string_view text);

  bool any() const { return !matrices_.empty(); }
  std::optional<Adapter> of(const tmeter::Node& node) const;
  /// The adapter's matrices of this weight; empty if it has none.
  std::vector<TrainedTensor> beside(const tmeter::Tensor& weight) const;

 private:
  struct Sizes {
    tmeter::Count in, out;
  };
  tmeter::Count rank_ = 0;
  std::vector<std::string_view> targets_;
  std::vector<std::optional<Sizes>> matrices_;  // by canonical tensor
};

}  // namespace training
