// bitsandbytes: 4-bit codes with a table (functional.py, QuantState.as_dict) and int8 with a scale
// a row.
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
  if (!possible || ceil_div(all, 2) != t.bytes)
    throw loading::BadFile("the quant_state of " + loading::in_quotes(t.name) +
                           " has a shape or blocks that do not fit its " + std::to_string(t.bytes) +
                           " bytes");
}

bool four_bits(Reader& r, const Stored& t, const std::string& name) {
  for (const auto& [kind, id] : {std::pair("nf4", "bnb.nf4"), std::pair("fp4", "bnb.fp4")}) {
    const auto* told = r.find(name + ".quant_state.bitsandbytes__" + kind);
    const auto* scales = r.find(name + ".absmax");
    if (!told || !scales || told->data.empty()) continue;
    const auto state = parse_state(*told);
    check(state, t);
    Packed p{name, state.shape,         &t, id, "block=" + std::to_string(state.block), 0,
             0,    {{"scales", scales}}};
    if (state.nested_block > 0) {
      std::array<char, 40> offset{};
      std::snprintf(offset.data(), offset.size(), "%.9g", state.nested_offset);
      p.parameters +=
          " nested_block=" + std::to_string(state.nested_block) + " nested_offset=" + offset.data();
    }
    constexpr std::array<std::pair<const char*, const char*>, 3> kMore{
        {{".quant_map", "codes"},
         {".nested_absmax", "nested_scales"},
         {".nested_quant_map", "nested_codes"}}};
    for (const auto& [end, role] : kMore)
      if (const auto* more = r.find(name + end)) p.parts.push_back({role, more});
    p.parts.push_back({"state", told});
    r.add(std::move(p));
    return true;
  }
  return false;
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
  const std::string name(t.name);
  return (t.dtype == TMETER_DTYPE_UINT8 && four_bits(r, t, name)) || eight_bits(r, t, name);
}

}  // namespace packed
