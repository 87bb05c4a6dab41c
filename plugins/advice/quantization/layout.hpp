// The layout of a weight in rows, channels and groups, and the size of a weight in each scheme.
#pragma once
#include <span>
#include <tmeter/cpp/dtype.hpp>
#include <vector>

#include "schemes.hpp"

#pragma GCC visibility push(hidden)  // as the SDK types inside
namespace quantization {

/// A row is a slice of dim 0, flattened; groups are cut along it. A channel makes one output: it is
/// a row, or for transposed convolutions (channel_axis 1) a slice of dim 1.
struct Layout {
  tmeter::DType dtype;
  std::vector<int64_t> dims;
  int channel_axis = 0;
  int64_t elements = 0, rows = 0, row = 0;  // row: elements of one
  int64_t channels = 0;
  int64_t run = 0;  // consecutive elements of one channel
  /// Chunks hold whole rows (abi/tensor_analysis.h).
  bool whole_rows = false;
  int64_t encoded_bytes = 0;  // stored bytes of an encoded weight, else 0

  /// Channels are whole rows seen at once: one pass is enough for them.
  bool channel_is_row() const { return whole_rows && channel_axis == 0; }
  size_t channel_of(int64_t element) const {
    return static_cast<size_t>((element / run) % channels);
  }
  int64_t bytes() const { return encoded_bytes > 0 ? encoded_bytes : elements * dtype.bytes(); }
};

/// Rank at least 2 and no empty dim.
Layout layout_of(tmeter::DType dtype, std::span<const int64_t> dims, int channel_axis);

/// Numbers, scales and zero points; every row begins at a byte.
int64_t stored_bytes(const Scheme& scheme, const Layout& layout);

}  // namespace quantization
#pragma GCC visibility pop
