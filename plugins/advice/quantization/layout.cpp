#include "layout.hpp"

namespace quantization {
namespace {

constexpr int64_t kWholeRowBytes = int64_t{4} << 20;  // abi/tensor_analysis.h, tmeter_chunk

int64_t scales_of(const Scheme& s, const Layout& l) {
  switch (s.scope) {
    case Scope::kTensor:
      return 1;
    case Scope::kChannel:
      return l.channels;
    case Scope::kGroup:
      return l.rows * ((l.row + s.group - 1) / s.group);
    default:
      return 0;
  }
}

}  // namespace

Layout layout_of(tmeter::DType dtype, std::span<const int64_t> dims, int channel_axis) {
  Layout out;
  out.dtype = dtype;
  out.dims.assign(dims.begin(), dims.end());
  out.channel_axis = channel_axis;
  out.elements = 1;  // products fit 63 bits: the builder has checked them
  for (const auto d : dims) out.elements *= d;
  out.rows = dims[0];
  out.row = out.elements / out.rows;
  out.channels = dims[static_cast<size_t>(channel_axis)];
  out.run = channel_axis == 0 ? out.row : out.row / out.channels;
  out.whole_rows = out.row <= kWholeRowBytes / dtype.bytes();
  return out;
}

int64_t stored_bytes(const Scheme& s, const Layout& l) {
  const int64_t row_bytes = l.row / 8 * s.bits + (l.row % 8 * s.bits + 7) / 8;
  // In this order nothing overflows: there are no more scales than elements.
  const int64_t scales = scales_of(s, l);
  const int64_t scale_bytes = scales / 8 * s.scale_bits + (scales % 8 * s.scale_bits + 7) / 8;
  return l.rows * row_bytes + scale_bytes;
}

}  // namespace quantization
