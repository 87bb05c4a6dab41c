// torchao's tensor subclasses, flattened (prototype/safetensors/safetensors_support.py):
// "fc.weight" is stored as "fc._weight_qdata", "fc._weight_scale" and others.
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

/// Encoding, parameters and dims by type and shapes of the data and its scales.
bool describe(const Reader& r, const Stored& t, const Stored& scales, Packed& p) {
  p.dims = t.dims;
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
  const auto* scales = r.find(names->first + "_scale");
  if (!scales) return false;
  Packed p{names->second, {}, &t, "", "", 0, 0, {{"scales", scales}}};
  if (!describe(r, t, *scales, p)) return false;
  constexpr std::array<std::pair<const char*, const char*>, 5> kMore{
      {{"_zero_point", "zeros"},
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
