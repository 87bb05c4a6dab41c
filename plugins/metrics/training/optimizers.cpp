#include "optimizers.hpp"

#include <algorithm>
#include <iterator>

namespace training {
namespace {

using tmeter::Count;

/// torch.optim keeps the number of steps as a float32 for each parameter.
constexpr Count kStepBytes = 4;

struct Precision {
  std::string_view name;
  int64_t weight, gradient, state, master;  // bytes of an element; 0: as the parameter
};

// bf16-mixed: weights of 2 bytes, gradients summed up in float32, float32 master weights and
// states: 18 bytes in all with Adam (Megatron-LM, theoretical_memory_usage.py).
constexpr Precision kPrecisions[] = {{"recorded", 0, 0, 0, 0},
                                     {"fp32", 4, 4, 4, 0},
                                     {"bf16", 2, 2, 2, 0},
                                     {"bf16-mixed", 2, 4, 4, 4}};

const Precision& precision_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPrecisions), std::end(kPrecisions),
                                   [&](const Precision& row) { return row.name == name; });
  return found == std::end(kPrecisions) ? kPrecisions[0] : *found;
}

struct Optimizer {
  std::string_view name;
  int64_t states;  // tensors as large as the parameter
  bool counts_steps;
  int64_t temporaries;  // temporaries of the parameter's size, at most at a time
  int64_t left_over;    // of these, kept until those of the next parameter exist
  int64_t flops;        // operations per element
};

// The single-tensor functions of torch.optim. An operation on an element is one FLOP:
//   sgd        param.add_(grad, alpha)                                                  2
//   momentum   buf.mul_(m).add_(grad); param.add_(buf, alpha)                           4
//   adam       lerp_ 3, mul_ 1, addcmul_ 3, sqrt 1, div 1, add_ 1, addcdiv_ 3          13
//   adamw      param.mul_(1 - lr * decay) and as adam                                  14
//   adafactor  norms of rows and columns 4, outer product 1, div_ 1, clamp_ 1, rsqrt_ 1,
//              mul_ 1, norm of the update 2, norm of the parameter 2, add_ 2           15
//   lion       mul_ 1, add 2, sign_ 1, decay 1, add_ 2, mul_ 1, add_ 2                 10
//   muon       two lerp 6, norm 2, div_ 1, decay 1, add_ 2, and its products           12
constexpr Optimizer kOptimizers[] = {
    {"adamw", 2, true, 2, 1, 14}, {"adam", 2, true, 2, 1, 13},
    {"sgd", 0, false, 0, 0, 2},   {"momentum", 1, false, 0, 0, 4},
    {"lion", 1, false, 2, 1, 10}, {"adafactor", 0, true, 1, 1, 15},
    {"muon", 1, false, 1, 0, 12}, {"adam8bit", 0, false, 0, 0, 13},
};

const Optimizer& optimizer_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(kOptimizers), std::end(kOptimizers),
                                   [&](const Optimizer& row) { return row.name == name; });
  return found == std::end(kOptimizers) ? kOptimizers[0] : *found;
}

/// torch.optim.Adafactor: a row and a column of second moments for each matrix.
Count adafactor_elements(const TrainedTensor& t) {
  if (t.rank < 2) return t.numel;
  const auto matrix = t.rows * t.columns;
  const auto batch = matrix == Count(0) ? Count(0) : t.numel / matrix;
  return batch * (t.rows + t.columns);
}

constexpr int64_t kSmall = 4096;  // bitsandbytes: min_8bit_size

/// bitsandbytes: two states of a byte with a float32 scale for each block of 256; small tensors
/// stay in float32.
Count adam8bit_bytes(Count n) {
  constexpr int64_t kBlock = 256;
  if (n < Count(kSmall)) return n * 8;
  return n * 2 + (n + (kBlock - 1)) / kBlock * 8;
}

/// torch.optim.Muon: five steps of Newton and Schulz in bfloat16, of a matrix of m rows and n
/// columns, m the smaller: the Gram matrix, its square, and their product with the matrix.
void add_muon(const TrainedTensor& t, ParameterCost& cost) {
  constexpr int64_t kSteps = 5, kHalf = 2;
  const auto m = std::min(t.rows, t.columns), n = std::max(t.rows, t.columns);
  cost.flops += (m * m * n * 4 + m * m * m * 2) * kSteps;
  cost.temporaries += (t.numel * 2 + m * m * 2) * kHalf;
  cost.left_over = t.numel * kHalf;
}

}  // namespace

TrainedTensor trained_tensor(const tmeter::Tensor& parameter) {
  const auto shape = parameter.shape();
  TrainedTensor out{shape.rank(), parameter.numel(), 1, 1, parameter.dtype()};
  if (shape.rank() >= 2) out.rows = shape[-2], out.columns = shape[-1];
  return out;
}

Count shared_state_bytes(const TrainedTensor& t, std::string_view optimizer) {
  constexpr int64_t kTables = 2, kEntries = 256, kFloat = 4;
  return optimizer == "adam8bit" && t.numel >= Count(kSmall) ? kTables * kEntries * kFloat : 0;
}

int64_t weight_bytes_of(std::string_view precision) { return precision_of(precision).weight; }

bool works_on_all(std::string_view optimizer) {
  return optimizer == "adam" || optimizer == "adamw" || optimizer == "adafactor";
}

ParameterCost parameter_cost(const TrainedTensor& t, std::string_view optimizer,
                             std::string_view precision) {
  // Muon is for matrices; other parameters are AdamW's, as its authors have it.
  if (optimizer == "muon" && t.rank != 2) return parameter_cost(t, "adamw", precision);
  const auto& p = precision_of(precision);
  const auto& o = optimizer_of(optimizer);
  const Count own = t.dtype.bytes();
  const auto element = [&](int64_t bytes) { return bytes > 0 ? Count(bytes) : own; };
  const auto state = element(p.state);
  ParameterCost cost;
  cost.gradient = t.numel * element(p.gradient);
  cost.states =
      t.numel * state * o.states + (o.counts_steps ? kStepBytes : Count(0)) + t.numel * p.master;
  cost.temporaries = t.numel * state * o.temporaries;
  cost.left_over = t.numel * state * o.left_over;
  cost.flops = t.numel * o.flops;
  if (optimizer == "adafactor") cost.states += adafactor_elements(t) * state;
  if (optimizer == "adam8bit") cost.states += adam8bit_bytes(t.numel);
  if (optimizer == "muon") add_muon(t, cost);
  return cost;
}

}  // namespace training
