// TensorMeta as torch writes it: element type, sizes, strides and offset of a tensor.
#pragma once
#include <span>
#include <vector>

#include "json_util.hpp"
#include "symbols.hpp"

namespace pt2 {

/// A TensorMeta whose numbers do not depend on symbols.
struct FixedTensorMeta {
  int16_t dtype = 0;
  bool requires_grad = false;
  int64_t storage_offset = 0;
  std::vector<int64_t> sizes, strides;  // equally many, at most 64
};

/// Returns false if a member is missing, malformed or symbolic; `out` is then undefined.
bool read_fixed(json::object meta, FixedTensorMeta& out);

/// The sizes, symbolic or not. Empties `dims` first. Throws BadFile for impossible sizes.
void read_sizes(Symbols& symbols, json::object meta, std::vector<tmeter_dim>& dims);
tmeter::DType read_dtype(json::object meta);
/// Throws BadFile for impossible sizes. The host refuses them too, but without a name.
void check_shape(std::span<const tmeter_dim> dims);

}  // namespace pt2
