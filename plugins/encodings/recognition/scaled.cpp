// Floats of four and eight bits, int8 and modelopt's int4, whose scales are other tensors: MXFP4
// (gpt-oss, modelopt, DeepSeek), NVFP4 (modelopt, compressed-tensors), fp8 and int8 by tensor,
// channel, group or block.
#include <algorithm>
#include <array>

#include "reader.hpp"

namespace packed {
namespace {

constexpr int64_t kUsualBlock = 128;  // block size of fp8: DeepSeek-V3, Qwen3, MiniMax

bool is_exponent(const Stored& t) {
  return t.dtype == TMETER_DTYPE_FLOAT8_E8M0FNU || t.dtype == TMETER_DTYPE_UINT8;
}

std::string module_of(const std::string& name) {
  return name.ends_with("weight") ? name.substr(0, name.size() - 6) : std::string();
}

/// Other tensors that come with scales.
void add_others(const Reader& r, Packed& p, const std::string& name) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kOfWeight{
      {{"_scale_2", "global_scale"},
       {"_global_scale", "global_divisor"},
       {"_zero_point", "zeros"},
       {"_shape", "shape"}}};
  constexpr std::array<std::pair<const char*, const char*>, 5> kOfModule{
      {{"input_scale", "input_scale"},
       {"pre_quant_scale", "input_factor"},
       {"input_global_scale", "input_scale"},
       {"input_scale_ub", "input_bound"},
       {"input_zero_point", "input_zero"}}};
  const auto add = [&](const std::string& found, const char* role) {
    const auto* t = r.find(found);
    const bool is_new =
        std::none_of(p.parts.begin(), p.parts.end(), [&](const Part& x) { return x.role == role; });
    if (t && is_new) p.parts.push_back({role, t});
  };
  for (const auto& [end, role] : kOfWeight) add(name + end, role);
  if (const auto module = module_of(name); !module.empty())
    for (const auto& [end, role] : kOfModule) add(module + end, role);
}

const Stored* scale_of(const Reader& r, const std::string& name) {
  for (const char* end : {"_scale_inv", "_scale", "_scales"})
    if (const auto* t = r.find(name + end)) return t;
  const auto module = module_of(name);
  if (module.empty()) return nullptr;
  for (const char* end : {"scale", "scale_weight", "scale_inv"})
    if (const auto* t = r.find(module + end)) return t;
  return nullptr;
}

/// Rows or columns that share a scale; nothing: ambiguous.
std::optional<int64_t> block_of(int64_t all, int64_t scales, std::optional<int64_t> stated) {
  if (scales == all) return 1;
  if (scales == 1) return all;
  if (stated && ceil_div(all, *stated) == scales) return stated;
  const bool usual = ceil_div(all, kUsualBlock) == scales;
  const auto even = share(all, 1, scales);
  if (usual && (!even || *even == kUsualBlock)) return kUsualBlock;
  return usual ? std::nullopt : even;
}

std::string grid(int64_t rows, int64_t columns) {
  return "rows=" + std::to_string(rows) + " columns=" + std::to_string(columns);
}

struct Grid {
  const char* name;  // "block"
  std::string parameters;
};

/// The layout of scales over the weight; empty if they do not fit it.
std::optional<Grid> grid_of(const Reader& r, const Stored& t, const Stored& scales) {
  const auto& dims = t.dims;
  const auto rank = dims.size();
  if (rank == 0 || numel(t) == 0) return std::nullopt;
  const auto rows = rank > 1 ? dims[rank - 2] : 1, columns = dims[rank - 1];
  if (numel(scales) == 1) return Grid{"tensor", ""};
  auto over = scales.dims;
  if (over.size() == 1 && rank == 2 && over[0] == rows) over = {rows, 1};
  if (over.size() == 4 && rank == 2 && over[1] == 1 && over[3] == 1)  // modelopt, of blocks
    over = {over[0], over[2]};
  if (over.size() == 1 && rank == 3 && over[0] == dims[0]) over = {dims[0], 1, 1};
  if (over.size() == 2 && rank == 3 && over[0] == dims[0] && over[1] == rows)
    over = {dims[0], rows, 1};
  if (over.size() != rank || rank < 2 || !std::equal(dims.begin(), dims.end() - 2, over.begin()))
    return std::nullopt;
  const auto& stated = r.config().block;
  const bool by_channel = over[rank - 1] == 1 && over[rank - 2] == rows;
  const bool has_block = stated.size() == 2 && !by_channel;
  const auto height =
      block_of(rows, over[rank - 2], has_block ? std::optional(stated[0]) : std::nullopt);
  const auto width =
      block_of(columns, over[rank - 1], has_block ? std::optional(stated[1]) : std::nullopt);
  if (over[rank - 2] > rows || over[rank - 1] > columns) return std::nullopt;
  if (has_block &&
      (ceil_div(rows, stated[0]) != over[rank - 2] ||
       ceil_div(columns, stated[1]) != over[rank - 1]) &&
      over[rank - 2] != rows)
    r.contradict(
        "weight_block_size is " + std::to_string(stated[0]) + " × " + std::to_string(stated[1]),
        scales,
        "has " + std::to_string(over[rank - 2]) + " × " + std::to_string(over[rank - 1]) +
            " scales");
  const char* name = by_channel ? "channel" : over[rank - 2] == rows ? "group" : "block";
  return Grid{name, height && width ? grid(*height, *width) : ""};
}

/// The part of a weight's name before the word for its values: "…gate_up_proj" of
/// "…gate_up_proj_blocks".
std::string stem(const Stored& t) {
  std::string name(t.name);
  for (const std::string_view end : {"_blocks", "_packed"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

}  // namespace

std::string grid_parameters(const Reader& r, const Stored& t, const Stored& scales) {
  const auto grid = grid_of(r, t, scales);
  return grid ? grid->parameters : std::string();
}

bool float4_blocks(Reader& r, const Stored& t) {
  const bool native = t.element == "F4";
  if (!native && t.dtype != TMETER_DTYPE_UINT8 && t.dtype != TMETER_DTYPE_INT8) return false;
  const auto name = stem(t);
  const auto* scales = scale_of(r, name);
  if (!scales || t.dims.size() < 2 || scales->dims.size() < 2) return false;
  auto dims = t.dims;
  if (name + "_blocks" == t.name) {  // gpt-oss: groups apart, [E, rows, groups, bytes of a group]
    if (dims.size() < 3) return false;
    const auto bytes = dims.back();
    dims.pop_back();
    const auto whole = product(dims.back(), bytes);
    if (!whole) return false;
    dims.back() = *whole;
  }
  const auto width = native ? std::optional(dims.back()) : product(dims.back(), 2);
  const auto groups = scales->dims.back();
  if (!width || *width == 0 || dims.size() != scales->dims.size() ||
      !std::equal(dims.begin(), dims.end() - 1, scales->dims.begin()))
    return false;
  dims.back() = *width;
  Packed p{name, dims, &t, "", "", 0, 0, {{"scales", scales}}};
  if (is_exponent(*scales) && product(groups, 32) == width) {
    p.encoding = "mxfp4", p.block_elements = 32, p.block_bytes = 16;
  } else if (scales->dtype == TMETER_DTYPE_FLOAT8_E4M3FN && product(groups, 16) == width) {
    p.encoding = "nvfp4", p.block_elements = 16, p.block_bytes = 8;
  } else {
    return false;
  }
  add_others(r, p, name);
  r.add(std::move(p));
  return true;
}

bool int4_rows(Reader& r, const Stored& t) {
  const std::string name(t.name);
  const auto* scales = t.dtype == TMETER_DTYPE_UINT8 ? r.find(name + "_scale") : nullptr;
  const auto rank = t.dims.size();
  if (!scales || !is_float(scales->dtype) || rank < 2 || scales->dims.size() != rank) return false;
  auto dims = t.dims;
  const auto rows = product(dims[rank - 2], 2);
  if (!rows || *rows == 0 || dims[rank - 1] == 0) return false;
  dims[rank - 2] = *rows;
  const auto groups = scales->dims[rank - 1];
  if (groups < 1 || dims[rank - 1] % groups != 0 ||
      !std::equal(dims.begin(), dims.end() - 1, scales->dims.begin()))
    return false;
  Packed p{name,
           dims,
           &t,
           "modelopt.int4",
           number("group", dims[rank - 1] / groups),
           2,
           1,
           {{"scales", scales}}};
  add_others(r, p, name);
  r.add(std::move(p));
  return true;
}

bool scaled_bytes(Reader& r, const Stored& t) {
  const bool floats = is_float8(t.dtype);
  if (!floats && t.dtype != TMETER_DTYPE_INT8) return false;
  const std::string name(t.name);
  const auto* scales = scale_of(r, name);
  if (!scales || !(is_float(scales->dtype) || is_exponent(*scales))) return false;
  const auto how = grid_of(r, t, *scales);
  if (!how) return false;
  Packed p{name,
           t.dims,
           &t,
           std::string(floats ? "fp8." : "int8.") + how->name,
           how->parameters,
           1,
           1,
           {{"scales", scales}}};
  if (floats && is_exponent(*scales) && std::string_view(how->name) == "group" &&
      how->parameters == grid(1, 32))
    p.encoding = "mxfp8";
  add_others(r, p, name);
  r.add(std::move(p));
  return true;
}

bool small_floats(Reader& r, const Stored& t) {
  struct Type {
    std::string_view element;
    const char* encoding;
    int64_t elements, bytes;
  };
  constexpr std::array<Type, 2> kTypes{
      {{"F6_E2M3", "f6_e2m3", 4, 3}, {"F6_E3M2", "f6_e3m2", 4, 3}}};
  for (const auto& type : kTypes) {
    if (t.element != type.element || numel(t) % type.elements != 0) continue;
    r.add({std::string(t.name), t.dims, &t, type.encoding, "", type.elements, type.bytes, {}});
    return true;
  }
  return false;
}

}  // namespace packed
