// torchao's tensor subclasses, flattened (prototype/safetensors/safetensors_support.py):
// "fc.weight" is stored as "fc._weight_qdata", "fc._weight_scale" and others.
#include <algorithm>
#include <array>

#include "reader.hpp"

namespace packed {
namespace {

constexpr std::string_view kData = "_qdata";

/// "fc._weight" and "fc.weight" of "fc._weight_qdata"; nothing for other names.
std::optional<std::pair<std::string, std::string>> names_of(const Stored& t) {
  if (!t.name.ends_with(kData)) return std::nullopt;
  const auto stem = t.name.substr(0, t.name.size() - kData.size());
  const auto dot = stem.rfind('.');
  if (dot == stem.npos || stem.size() < dot + 3 || stem[dot + 1] != '_') return std::nullopt;
  return std::pair(std::string(stem),
                   std::string(stem.substr(0, dot + 1)) + std::string(stem.substr(dot + 2)));
}

/// Int4PreshuffledTensor (workflows/int4 of torchao 0.18): two numbers in a byte [N, K / 2]. Only
/// this class has scales of that name: [K / group, N], or with float8 activations
/// [K / group / 8, 8, N].
bool is_preshuffled(const Stored& t, const Stored& scales, const std::string& stem) {
  const auto rank = t.dims.size();
  return scales.name == stem + "_group_scale" && t.dtype == TMETER_DTYPE_INT8 && rank >= 2 &&
         product(t.dims.back(), 2) && !scales.dims.empty() &&
         scales.dims.back() == t.dims[rank - 2];
}

/// Int4Tensor: two numbers in a byte [N, K / 2], scales and zeros [K / group, N]. Int8Tensor has
/// its scales by rows, and integers as zeros.
bool is_int4_in_bytes(const Reader& r, const Stored& t, const Stored& scales,
                      const std::string& stem) {
  const auto rank = t.dims.size();
  if (t.dtype != TMETER_DTYPE_INT8 || rank < 2 || scales.dims.size() != rank) return false;
  const auto groups = scales.dims[rank - 2];
  if (groups < 1 || scales.dims.back() != t.dims[rank - 2] ||
      !std::equal(t.dims.begin(), t.dims.end() - 2, scales.dims.begin()))
    return false;
  const auto width = product(t.dims.back(), 2);
  if (!width || *width % groups != 0) return false;
  const auto* zeros = r.find(stem + "_zero_point");
  return zeros && is_float(zeros->dtype) && zeros->dims == scales.dims;
}

/// IntxUnpackedToInt8Tensor: a number in a byte [N, K], scales and zeros [N, K / group]. With as
/// many groups as rows its shapes are those of an Int4Tensor.
bool fits_unpacked_too(const Stored& t, const Stored& scales) {
  return same_rows(t, scales) && t.dims.back() % scales.dims.back() == 0;
}

/// Scales and zeros [K / group, N, 2] in one tensor. Int4TilePackedTo4dTensor: eight numbers in a
/// word of tiles. Int4OpaqueTensor, for processors: two in a byte [N, K / 2].
bool with_scales_and_zeros(const Stored& t, const Stored& scales, Packed& p) {
  const bool words = t.dtype == TMETER_DTYPE_INT32 && t.dims.size() == 4;
  const bool bytes = t.dtype == TMETER_DTYPE_UINT8 && t.dims.size() == 2;
  if ((!words && !bytes) || scales.dims.size() != 3 || scales.dims[2] != 2) return false;
  const auto rows = scales.dims[1], groups = scales.dims[0];
  const auto columns = share(numel(t), words ? 8 : 2, rows);
  if (!columns || groups < 1 || *columns % groups != 0 || (bytes && rows != t.dims[0]))
    return false;
  p.dims = {rows, *columns};
  p.encoding = "torchao.int4", p.block_elements = words ? 8 : 2, p.block_bytes = words ? 4 : 1;
  return true;
}

/// Encoding, parameters and dims by type and shapes of the data and its scales.
bool describe(Reader& r, const Stored& t, const Stored& scales, const std::string& stem,
              Packed& p) {
  if (scales.name == stem + "_scale_and_zero") return with_scales_and_zeros(t, scales, p);
  p.dims = t.dims;
  const bool in_bytes = is_int4_in_bytes(r, t, scales, stem);
  if (in_bytes && fits_unpacked_too(t, scales))
    r.note(p.name + " of torchao has as many scales in a row as rows: counted as Int4Tensor, two " +
           "numbers in a byte; an IntxUnpackedToInt8Tensor of these shapes has half of them");
  if (in_bytes || is_preshuffled(t, scales, stem)) {
    p.dims.back() *= 2;
    p.encoding = "torchao.int4", p.block_elements = 2, p.block_bytes = 1;
    return true;
  }
  if (is_float8(t.dtype) || t.dtype == TMETER_DTYPE_INT8) {
    p.encoding = is_float8(t.dtype) ? "torchao.float8" : "torchao.int8";
    p.parameters = grid_parameters(r, t, scales);
    p.block_elements = p.block_bytes = 1;
    return true;
  }
  if (t.dims.empty()) return false;
  const bool bytes = t.dtype == TMETER_DTYPE_UINT8;
  if (!bytes && (t.dtype != TMETER_DTYPE_INT32 || t.dims.size() != 2)) return false;
  const auto width = product(t.dims.back(), bytes ? 2 : 8);
  if (!width) return false;
  p.dims.back() = *width;
  const bool rows = same_rows(t, scales);
  if (bytes && rows && scales.dtype == TMETER_DTYPE_FLOAT8_E4M3FN &&
      product(scales.dims.back(), 16) == width) {
    p.encoding = "nvfp4", p.block_elements = 16, p.block_bytes = 8;
  } else if (bytes && rows && scales.dtype == TMETER_DTYPE_FLOAT8_E8M0FNU &&
             product(scales.dims.back(), 32) == width) {
    p.encoding = "mxfp4", p.block_elements = 32, p.block_bytes = 16;
  } else {
    p.encoding = bytes && !is_float(scales.dtype) ? "torchao.float4" : "torchao.int4";
    p.block_elements = bytes ? 2 : 8, p.block_bytes = bytes ? 1 : 4;
  }
  return true;
}

}  // namespace

bool torchao(Reader& r, const Stored& t) {
  const auto names = names_of(t);
  if (!names) return false;
  const Stored* scales = nullptr;
  for (const auto* end : {"_scale", "_group_scale", "_scale_and_zero"})
    if (!scales) scales = r.find(names->first + end);
  if (!scales) return false;
  Packed p{names->second, {}, &t, "", "", 0, 0, {{"scales", scales}}};
  if (!describe(r, t, *scales, names->first, p)) return false;
  constexpr std::array<std::pair<const char*, const char*>, 7> kMore{
      {{"_zero_point", "zeros"},
       {"_group_zero", "zeros"},
       {"_row_scale", "row_scales"},
       {"_per_tensor_scale", "global_scale"},
       {"_act_per_tensor_scale", "input_scale"},
       {"_act_pre_scale", "input_factor"},
       {"_act_scale", "input_scales"}}};
  for (const auto& [end, role] : kMore)
    if (const auto* more = r.find(names->first + end)) p.parts.push_back({role, more});
  r.add(std::move(p));
  return true;
}

}  // namespace packed
