// HQQ (core/quantize.py, core/bitpack.py of 0.2) and optimum-quanto (tensor/packed.py, grouped.py
// of 0.2). A weight is a matrix [rows, columns] of codes, a group in each row or column. The first
// part of its rows fills a few bits of all words, the next part the bits beside them.
#include <algorithm>
#include <array>
#include <cstring>

#include "reader.hpp"

namespace packed {
namespace {

/// The integers of a stored tensor; empty where the file has none of its bytes.
std::vector<int64_t> integers_of(const Stored* t) {
  if (!t || (t->dtype != TMETER_DTYPE_INT64 && t->dtype != TMETER_DTYPE_INT32)) return {};
  const size_t size = t->dtype == TMETER_DTYPE_INT64 ? 8 : 4;
  std::vector<int64_t> out(std::min<size_t>(t->data.size() / size, 64));
  for (size_t i = 0; i < out.size(); ++i)
    if (size == 8) {
      std::memcpy(&out[i], t->data.data() + i * size, size);
    } else {
      int32_t value = 0;
      std::memcpy(&value, t->data.data() + i * size, size);
      out[i] = value;
    }
  return out;
}

std::optional<int64_t> integer_of(const Stored* t) {
  const auto all = integers_of(t);
  return all.size() == 1 ? std::optional(all[0]) : std::nullopt;
}

bool hqq(Reader& r, const Stored& t) {
  constexpr std::string_view kEnd = "W_q";
  if (!t.name.ends_with(kEnd)) return false;
  const std::string module(t.name.substr(0, t.name.size() - kEnd.size()));
  const auto* scales = r.find(module + "scale");
  const auto* zeros = r.find(module + "zero");
  const auto bits = integer_of(r.find(module + "nbits")),
             axis = integer_of(r.find(module + "axis"));
  const auto dims = integers_of(r.find(module + "shape"));
  if (!r.find(module + "shape")) return false;
  const auto fail = [&](const char* why) {
    r.note_unknown_form(t, std::string("they are HQQ's, and ") + why);
    return false;
  };
  if (!scales || !zeros) return fail("their scales are packed, too");
  if (!bits || !axis || dims.empty()) return fail("their numbers are not in the file");
  const bool in_words = *bits == 3;
  if (t.dims.size() != 2 || t.dims[1] < 1 ||
      t.dtype != (in_words ? TMETER_DTYPE_INT32 : TMETER_DTYPE_UINT8))
    return fail("their codes have an unsupported type");
  int64_t all = 1;
  for (const auto d : dims) all = d < 1 ? 0 : product(all, d).value_or(0);
  const auto per_word = in_words ? 10 : *bits > 0 && 8 % *bits == 0 ? 8 / *bits : 0;
  const auto rows = all / t.dims[1], by_axis = *axis == 0 ? t.dims[1] : rows;
  if (all == 0 || all % t.dims[1] != 0 || per_word == 0 || ceil_div(rows, per_word) != t.dims[0] ||
      numel(*scales) != by_axis || numel(*zeros) != by_axis)
    return fail("their shape contradicts their codes or scales");
  Packed p{module + "weight",
           dims,
           &t,
           "hqq",
           number("bits", *bits) + number(" columns", t.dims[1]) +
               (*axis == 0 ? " scales=columns" : " scales=rows"),
           0,
           0,
           {{"scales", scales}, {"zeros", zeros}}};
  constexpr std::array<const char*, 16> kState{"shape",
                                               "nbits",
                                               "axis",
                                               "group_size",
                                               "packing",
                                               "channel_wise",
                                               "optimize",
                                               "round_zero",
                                               "compute_dtype",
                                               "encoded_state_dict",
                                               "offload_meta",
                                               "quant_scale",
                                               "quant_zero",
                                               "view_as_float",
                                               "unpack_view_dtype",
                                               "stores_quant_config"};
  for (const char* name : kState)
    if (const auto* more = r.find(module + name)) p.parts.push_back({name, more});
  r.add(std::move(p));
  return true;
}

/// Scales of the activations, which belong to the module.
void add_activations(const Reader& r, Packed& p) {
  if (!p.name.ends_with("weight")) return;
  const auto module = p.name.substr(0, p.name.size() - 6);
  for (const char* name : {"input_scale", "output_scale"})
    if (const auto* more = r.find(module + name)) p.parts.push_back({name, more});
}

/// "fc.weight" of "fc.weight._data", of int8 or float8.
bool quanto_bytes(Reader& r, const Stored& t, std::string name) {
  const auto* scales = r.find(name + "._scale");
  if (!scales || !is_float(scales->dtype)) return false;
  const auto grid = grid_parameters(r, t, *scales);
  if (grid.empty() && numel(*scales) != 1) return false;
  Packed p{std::move(name),
           t.dims,
           &t,
           t.dtype == TMETER_DTYPE_INT8 ? "quanto.int8" : "quanto.float8",
           grid,
           1,
           1,
           {{"scales", scales}}};
  add_activations(r, p);
  r.add(std::move(p));
  return true;
}

/// "fc.weight" of "fc.weight._data._data", of four or two bits: as many scales as rows.
bool quanto_bits(Reader& r, const Stored& t, std::string name) {
  const auto* scales = r.find(name + "._scale");
  const auto* shifts = r.find(name + "._shift");
  if (t.dims.size() != 2 || t.dims[1] < 1 || !scales || !shifts || !is_float(scales->dtype) ||
      shifts->dims != scales->dims || scales->dims.empty())
    return false;
  const auto rows = scales->dims[0];
  const bool four = ceil_div(rows, 2) == t.dims[0], two = ceil_div(rows, 4) == t.dims[0];
  if (numel(*scales) != rows || four == two) return false;
  Packed p{std::move(name),
           {rows, t.dims[1]},
           &t,
           "quanto",
           number("bits", four ? 4 : 2) + number(" columns", t.dims[1]) + " scales=rows",
           0,
           0,
           {{"scales", scales}, {"shifts", shifts}}};
  add_activations(r, p);
  r.add(std::move(p));
  return true;
}

bool has_hidden_rows(std::string_view name) {
  return name.ends_with("o_proj.weight") || name.ends_with("down_proj.weight");
}

}  // namespace

bool planes(Reader& r, const Stored& t) {
  constexpr std::string_view kBytes = "._data", kBits = "._data._data";
  if (t.dtype == TMETER_DTYPE_UINT8 && t.name.ends_with(kBits))
    return quanto_bits(r, t, std::string(t.name.substr(0, t.name.size() - kBits.size())));
  if ((t.dtype == TMETER_DTYPE_INT8 || is_float8(t.dtype)) && t.name.ends_with(kBytes))
    return quanto_bytes(r, t, std::string(t.name.substr(0, t.name.size() - kBytes.size())));
  return hqq(r, t);
}

void correct_quanto_widths(Reader& r, const std::vector<Stored>& stored) {
  const bool any = std::any_of(r.packed().begin(), r.packed().end(),
                               [](const Packed& p) { return p.encoding == "quanto"; });
  if (!any) return;
  const auto hidden = hidden_sizes(stored);
  size_t left = 0;
  std::string first;
  for (auto& p : r.packed()) {
    if (p.encoding != "quanto") continue;
    const auto group = p.dims[1], all = p.dims[0] * group;
    std::vector<int64_t> fit;
    if (is_of_hidden_size(p.name))
      for (const auto width : hidden)
        if (width % group == 0 && all % width == 0) fit.push_back(width);
    if (has_hidden_rows(p.name))
      for (const auto rows : hidden)
        if (rows > 0 && all % rows == 0 && all / rows % group == 0) fit.push_back(all / rows);
    if (fit.size() == 1)
      p.dims = {all / fit[0], fit[0]};
    else if (left++ == 0)
      first = p.name;
  }
  if (left > 0)
    r.note(std::to_string(left) + " weights of optimum-quanto, such as " +
           loading::in_quotes(first) +
           ", are shown as rows of groups: the file has no shape of them");
}

}  // namespace packed
