// The number of consecutive elements that the vectors of an operator's kernel cover.
//
//   convolution, product      output features: packed products and blocked convolutions (nChw16c)
//   recurrent                 the hidden size
//   attention                 the size of a head
//   softmax, norms, sums      the row that they reduce; batch norm: the pixels of a channel
//   embedding                 the row that is copied
//   elementwise, activation   the last dims over which every operand advances with the result or
//                             stands still, as TensorIterator merges dims; one element where
//                             operands are stored in different orders, or have gaps
//
// Other operators (pooling, sorting, look-ups) have no value: their kernels differ.
#pragma once
#include <optional>
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/strides.hpp"

#pragma GCC visibility push(hidden)
namespace vectorization {

enum class Cause { kNone, kFeatures, kStrides, kBroadcast };

struct Run {
  int64_t elements = 0;
  tmeter::DType type;
  Cause cause = Cause::kNone;  // reason for empty lanes
};

std::optional<Run> run_of(const tmeter::Node& node, const plugins::Layouts& layouts);

/// Elements of a vector of `width` bytes; 0 for types without a fixed size.
inline int64_t lanes_of(tmeter::DType type, int64_t width) {
  const int64_t bytes = type.bytes();
  return bytes > 0 && bytes <= width ? width / bytes : 0;
}

/// The share of lanes that `run` elements fill: run / (⌈run / lanes⌉ · lanes).
inline double share_of_lanes(int64_t run, int64_t lanes) {
  if (run <= 0 || lanes <= 0) return 1;
  const int64_t vectors = (run - 1) / lanes + 1;
  return static_cast<double>(run) / (static_cast<double>(vectors) * static_cast<double>(lanes));
}

}  // namespace vectorization
#pragma GCC visibility pop
