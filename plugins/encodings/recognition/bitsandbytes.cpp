// bitsandbytes: 4-bit codes with a table (functional.py, QuantState.as_dict) and int8 with a scale
// per row.
#include <array>

#include "json_text.hpp"
#include "reader.hpp"

namespace packed {
namespace {

namespace json = loading::json;

/// The quantization state: JSON in a tensor of bytes.
struct State {
  std::vector<int64_t> shape;
  int64_t block = 0, nested_block = 0;
  double nested_offset = 0;
};

State parse_state(const Stored& t) {
  return loading::within([&] { return "tensor " + loading::in_quotes(t.name); },
                         [&] {
                           json::document document;
                           const auto error = loading::parse_json(t.data, false, document);
                           const auto o =
                               loading::as_object(loading::require_json(error, document));
                           State s;
                           for (const auto d : loading::array_member(o, "shape"))
                             s.shape.push_back(loading::as_integer(d));
                           s.block = loading::read_member(o, "blocksize", loading::as_integer);
                           if (const auto nested = loading::find_set(o, "nested_blocksize"))
                             s.nested_block = loading::as_integer(*nested);
                           if (const auto offset = loading::find_set(o, "nested_offset"))
                             s.nested_offset = loading::as<double>(*offset, "a number");
                           return s;
                         });
}

void check(const State& s, const Stored& t) {
  int64_t all = 1;
  bool possible = s.block > 0 && s.shape.size() <= 64;
  for (const auto d : s.shape) {
    const auto n = product(all, d);
    possible = possible && d >= 0 && n;
    all = n.value_or(0);
  }
  constexpr int64_t kMaxElementBytes = 8;  // bytes of a stored element, which may be padded
  if (!possible || t.bytes < ceil_div(all, 2) || t.bytes >= ceil_div(all, 2) + kMaxElementBytes)
    throw loading::BadFile("the quant_state of " + loading::in_quotes(t.name) +
                           " has a shape or blocks that do not fit its " + std::to_string(t.bytes) +
                           " bytes");
}

/// Found by the state: the codes may be stored as any type (`bnb_4bit_quant_storage`).
bool four_bits(Reader& r, const Stored& entry) {
  constexpr std::string_view kState = ".quant_state.bitsandbytes__";
  const auto end = entry.name.rfind(kState);
  if (end == entry.name.npos || entry.data.empty()) return false;
  const auto kind = entry.name.substr(end + kState.size());
  const std::string name(entry.name.substr(0, end));
  const auto* codes = r.find(name);
  const auto* scales = r.find(name + ".absmax");
  if (!codes || !scales || (kind != "nf4" && kind != "fp4")) return false;
  const auto state = parse_state(entry);
  check(state, *codes);
  Packed p{
      name, state.shape,         codes, "bnb." + std::string(kind), number("block", state.block), 0,
      0,    {{"scales", scales}}};
  if (state.nested_block > 0) {
    std::array<char, 40> offset{};
    std::snprintf(offset.data(), offset.size(), "%.9g", state.nested_offset);
    p.parameters += number(" nested_block", state.nested_block) + " nested_offset=" + offset.data();
  }
  constexpr std::array<std::pair<const char*, const char*>, 3> kMore{
      {{".quant_map", "codes"},
       {".nested_absmax", "nested_scales"},
       {".nested_quant_map", "nested_codes"}}};
  for (const auto& [more_end, role] : kMore)
    if (const auto* more = r.find(name + more_end)) p.parts.push_back({role, more});
  p.parts.push_back({"state", &entry});
  r.add(std::move(p));
  return true;
}

bool eight_bits(Reader& r, const Stored& t, const std::string& name) {
  if (t.dtype != TMETER_DTYPE_INT8 || t.dims.size() != 2 || !name.ends_with("weight")) return false;
  const auto module = name.substr(0, name.size() - 6);
  const auto* scales = r.find(module + "SCB");
  if (!scales || scales->dims.size() != 1 || scales->dims[0] != t.dims[0]) return false;
  Packed p{name, t.dims, &t, "bnb.int8", "", 1, 1, {{"scales", scales}}};
  if (const auto* format = r.find(module + "weight_format")) p.parts.push_back({"format", format});
  r.add(std::move(p));
  return true;
}

}  // namespace

bool bitsandbytes(Reader& r, const Stored& t) {
  return four_bits(r, t) || eight_bits(r, t, std::string(t.name));
}

}  // namespace packed
