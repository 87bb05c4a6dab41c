// The values of two models' tensors compared, pair by pair, for `tmeter diff`.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {

/// The comparison of two tensors of the same shape.
struct WeightChange {
  const Tensor *before = nullptr, *after = nullptr;
  int64_t differing = 0;         // elements
  double largest = 0;            // of |after − before|, over elements that are numbers in both
  double signal = 0, noise = 0;  // sums of before² and (after − before)², over the same elements
  int64_t nan_before = 0, nan_after = 0;  // elements that are NaN or infinite
  /// Signal-to-quantization-noise ratio in dB; infinite where nothing differs.
  double sqnr() const;
};

struct WeightChanges {
  std::vector<WeightChange> changed;  // most noise in relation to the signal first
  size_t equal = 0;                   // pairs of the same bits, or of the same numbers in two types
  std::vector<std::pair<const Tensor*, std::string>> unread;  // and why
};

using TensorPairs = std::vector<std::pair<const Tensor*, const Tensor*>>;

/// A model's tensors and their bytes.
struct ReadableWeights {
  const Graph& graph;
  const TensorBytes& bytes;
};

/// Reads every pair once, and once more in the order of rows that one file may have
/// (row_order.hpp); the closer one counts. Memory is bounded. Throws Error(kInterrupted) after
/// Ctrl-C.
WeightChanges compare_weights(const TensorPairs& pairs, const ReadableWeights& before,
                              const ReadableWeights& after);

/// One sentence each: the number of equal tensors, the first few changed ones, and a tensor that
/// could not be read.
std::vector<std::string> describe(const WeightChanges& changes);

/// One sentence each: tensors of another shape, and those of one model alone.
std::vector<std::string> describe_unpaired(const Graph& before, const Graph& after,
                                           const TensorPairs& pairs);

}  // namespace tmeter::core
