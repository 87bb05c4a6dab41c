#include "optimizers.hpp"

#include <algorithm>
#include <iterator>

namespace training {
namespace {

using tmeter::Count;
using tmeter::Tensor;

constexpr Count kStepBytes =
    4;  // torch.optim keeps the number of steps as a float32 for each parameter

struct Precision {
  std::string_view name;
  int64_t gradient, state, master;  // bytes of an element; 0: as the parameter
};

// bf16-mixed: weights of 2 bytes, gradients summed up in float32, float32 master weights and
// states: 18 bytes in all with Adam (Megatron-LM, theoretical_memory_usage.py).
constexpr Precision kPrecisions[] = {
    {"recorded", 0, 0, 0}, {"fp32", 4, 4, 0}, {"bf16", 2, 2, 0}, {"bf16-mixed", 4, 4, 4}};

struct Optimizer {
  std::string_view name;
  int64_t tensors;  // states as large as the parameter
  bool counts_steps;
};

constexpr Optimizer kOptimizers[] = {{"adamw", 2, true},
                                     {"adam", 2, true},
                                     {"sgd", 0, false},
                                     {"momentum", 1, false},
                                     {"lion", 1, false}};

/// torch.optim.Adafactor: a row and a column of second moments for each matrix, in float32 or the
/// parameter's type.
Count adafactor_elements(const Tensor& t) {
  const auto shape = t.shape();
  if (shape.rank() < 2) return t.numel();
  const auto batch = shape.product(0, shape.rank() - 2);
  return batch * shape[-2] + batch * shape[-1];
}

/// bitsandbytes: two states of a byte with a float32 scale for each block of 256; small tensors
/// stay in float32.
Count adam8bit_bytes(const Tensor& t) {
  constexpr int64_t kSmall = 4096, kBlock = 256;
  const auto n = t.numel();
  if (n < Count(kSmall)) return n * 8;
  return n * 2 + (n + (kBlock - 1)) / kBlock * 8;
}

Count state_bytes(const Tensor& t, std::string_view optimizer, Count element) {
  if (optimizer == "adafactor") return adafactor_elements(t) * element + kStepBytes;
  if (optimizer == "adam8bit") return adam8bit_bytes(t);
  // Muon is for matrices; what is none is left to AdamW, as its authors do.
  if (optimizer == "muon")
    return t.shape().rank() == 2 ? t.numel() * element : state_bytes(t, "adamw", element);
  const auto* o = std::find_if(std::begin(kOptimizers), std::end(kOptimizers),
                               [&](const Optimizer& row) { return row.name == optimizer; });
  if (o == std::end(kOptimizers)) return 0;
  return t.numel() * element * o->tensors + (o->counts_steps ? kStepBytes : Count(0));
}

}  // namespace

ParameterCost parameter_cost(const Tensor& parameter, std::string_view optimizer,
                             std::string_view precision) {
  const auto* found = std::find_if(std::begin(kPrecisions), std::end(kPrecisions),
                                   [&](const Precision& row) { return row.name == precision; });
  const auto& p = found == std::end(kPrecisions) ? kPrecisions[0] : *found;
  const Count own = parameter.dtype().bytes();
  const auto element = [&](int64_t bytes) { return bytes > 0 ? Count(bytes) : own; };
  return {parameter.numel() * element(p.gradient),
          state_bytes(parameter, optimizer, element(p.state)) + parameter.numel() * p.master};
}

}  // namespace training
