// Integers packed into 32-bit words: GPTQ and AWQ (AutoGPTQ, GPTQModel, AutoAWQ: qlinear's pack),
// compressed-tensors (compressors/pack_quantized).
#include <array>
#include <cstring>
#include <numeric>

#include "reader.hpp"

namespace packed {
namespace {

/// Elements and bytes of the smallest whole number of words, where that divides all elements.
void set_block(Packed& p, int64_t bits) {
  const auto common = std::gcd(kWord, bits);
  const auto elements = kWord / common;
  int64_t all = 1;
  for (const auto d : p.dims) all *= d;
  if (all % elements != 0) return;
  p.block_elements = elements;
  p.block_bytes = bits / common * 4;
}

bool is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/// Weights that share a scale: from the configuration, else from the number of groups.
/// Nothing: ambiguous.
std::optional<int64_t> group_of(const Reader& r, const Stored& scales, int64_t width,
                                int64_t groups) {
  const auto stated = r.config().all.group;
  if (stated && *stated > 0 && !r.config().varies) {
    if (ceil_div(width, *stated) == groups) return stated;
    if (groups > 1)
      r.contradict(
          "group_size is " + std::to_string(*stated), scales,
          "has " + std::to_string(groups) + " groups of " + std::to_string(width) + " weights");
  }
  if (groups == 1) return width;
  const auto group = share(width, 1, groups);
  return group && is_power_of_two(*group) ? group : std::nullopt;
}

void check_bits(const Reader& r, const Stored& t, int64_t bits) {
  const auto stated = r.config().all.bits;
  if (stated && !r.config().varies && *stated != bits)
    r.contradict("bits is " + std::to_string(*stated), t,
                 "has weights of " + std::to_string(bits) + " bits");
}

bool is_matrix(const Stored* t, int32_t dtype) {
  return t && t->dtype == dtype && t->dims.size() == 2;
}

/// GPTQ stores zero points minus one, except in its second format.
std::string zero_of(const Config& c) {
  if (!c.given) return {};
  return c.format == "gptq_v2" ? " zero=0" : " zero=1";
}

bool gptq(Reader& r, const Stored& t, const std::string& module, const Stored& zeros,
          const Stored& scales) {
  const auto bits = share(zeros.dims[1], kWord, scales.dims[1]);
  if (!bits || (*bits != 2 && *bits != 3 && *bits != 4 && *bits != 8)) return false;
  const auto in = share(t.dims[0], kWord, *bits);
  if (!in || *in == 0 || zeros.dims[0] != scales.dims[0]) return false;
  const auto* order = r.find(module + "g_idx");
  if (order && (order->dims.size() != 1 || order->dims[0] != *in)) order = nullptr;
  check_bits(r, t, *bits);
  const auto group = group_of(r, scales, *in, scales.dims[0]);
  Packed p{module + "weight", {scales.dims[1], *in}, &t, "gptq", number("bits", *bits), 0, 0, {}};
  if (group) p.parameters += number(" group", *group);
  p.parameters += zero_of(r.config());
  set_block(p, *bits);
  p.parts = {{"scales", &scales}, {"zeros", &zeros}};
  if (order) p.parts.push_back({"order", order});
  r.add(std::move(p));
  return true;
}

bool awq(Reader& r, const Stored& t, const std::string& module, const Stored& zeros,
         const Stored& scales) {
  constexpr int64_t kBits = 4, kPerWord = kWord / kBits;
  Packed p{module + "weight", {}, &t, "awq", number("bits", kBits), 0, 0, {}};
  if (t.dims[1] == zeros.dims[1] && product(t.dims[1], kPerWord) == scales.dims[1] &&
      zeros.dims[0] == scales.dims[0]) {
    p.dims = {scales.dims[1], t.dims[0]};
    if (const auto group = group_of(r, scales, t.dims[0], scales.dims[0]))
      p.parameters += number(" group", *group);
  } else if (t.dims[0] == scales.dims[0] && t.dims[0] == zeros.dims[0] &&
             r.config().method == "awq") {
    p.dims = {t.dims[0], product(t.dims[1], kPerWord).value_or(0)};  // gemv: rows of the weight
    p.parameters += " version=gemv";
  } else {
    return false;
  }
  check_bits(r, t, kBits);
  set_block(p, kBits);
  p.parts = {{"scales", &scales}, {"zeros", &zeros}};
  r.add(std::move(p));
  return true;
}

/// Words of `width` weights of these bits: packed continuously, or without weights across words.
bool fits(int64_t words, int64_t width, int64_t bits, bool dense) {
  const auto all = product(width, bits);
  return all && words == (dense ? ceil_div(*all, kWord) : ceil_div(width, kWord / bits));
}

/// The shape that compressed-tensors stores beside the words; empty when it does not fit them.
std::optional<std::vector<int64_t>> stated_shape(const Stored& words, const Stored* shape) {
  const auto rank = words.dims.size();
  if (!shape || (shape->dtype != TMETER_DTYPE_INT64 && shape->dtype != TMETER_DTYPE_INT32))
    return std::nullopt;
  const size_t size = shape->dtype == TMETER_DTYPE_INT64 ? 8 : 4;
  if (shape->dims.empty() || shape->dims.back() != 2 || shape->data.size() < 2 * size || rank < 2)
    return std::nullopt;
  std::array<int64_t, 2> dims{};
  for (size_t i = 0; i < 2; ++i) std::memcpy(&dims[i], shape->data.data() + i * size, size);
  if (dims[0] != words.dims[rank - 2] || dims[1] < 1) return std::nullopt;
  auto all = words.dims;
  all.back() = dims[1];
  return all;
}

struct Width {
  int64_t bits, width;
  bool dense;
};

/// Bits and width of rows of words, from the shape or the configuration.
std::optional<Width> width_of(const Reader& r, const Stored& t,
                              const std::optional<std::vector<int64_t>>& shape) {
  const auto words = t.dims.back();
  const auto stated = r.config().varies ? std::nullopt : r.config().all.bits;
  if (!shape) {
    const auto width = stated ? share(words, kWord, *stated) : std::nullopt;
    return width && kWord % *stated == 0 ? std::optional(Width{*stated, *width, true})
                                         : std::nullopt;
  }
  const auto width = shape->back();
  constexpr std::array<int64_t, 8> kUsual{4, 8, 2, 3, 6, 5, 1, 7};
  for (const bool dense : {true, false}) {
    if (stated && *stated <= 8 && fits(words, width, *stated, dense))
      return Width{*stated, width, dense};
  }
  if (stated)
    r.contradict(
        "num_bits is " + std::to_string(*stated), t,
        "has " + std::to_string(words) + " words a row for " + std::to_string(width) + " weights");
  for (const auto bits : kUsual)
    for (const bool dense : {true, false})
      if (fits(words, width, bits, dense)) return Width{bits, width, dense};
  return std::nullopt;
}

}  // namespace

bool integers_in_words(Reader& r, const Stored& t) {
  constexpr std::string_view kEnd = "qweight";
  if (!t.name.ends_with(kEnd) || !is_matrix(&t, TMETER_DTYPE_INT32)) return false;
  const std::string module(t.name.substr(0, t.name.size() - kEnd.size()));
  const auto* zeros = r.find(module + "qzeros");
  const auto* scales = r.find(module + "scales");
  if (!is_matrix(zeros, TMETER_DTYPE_INT32) || !scales || !is_float(scales->dtype) ||
      scales->dims.size() != 2)
    return false;
  return t.dims[1] == scales->dims[1] ? gptq(r, t, module, *zeros, *scales)
                                      : awq(r, t, module, *zeros, *scales);
}

bool compressed_words(Reader& r, const Stored& t) {
  constexpr std::string_view kEnd = "_packed";
  if (!t.name.ends_with(kEnd) || t.dtype != TMETER_DTYPE_INT32 || t.dims.size() < 2) return false;
  const std::string name(t.name.substr(0, t.name.size() - kEnd.size()));
  const auto* scales = r.find(name + "_scale");
  if (!scales || !is_float(scales->dtype) || scales->dims.empty()) return false;
  const auto* shape = r.find(name + "_shape");
  const auto width = width_of(r, t, stated_shape(t, shape));
  if (!width) return false;
  Packed p{name, t.dims, &t, "compressed.packed", number("bits", width->bits), 0, 0, {}};
  p.dims.back() = width->width;
  if (!width->dense) p.parameters += " words=whole";
  set_block(p, width->bits);
  if (const auto group = same_rows(t, *scales)
                             ? group_of(r, *scales, width->width, scales->dims.back())
                             : std::nullopt)
    p.parameters += number(" group", *group);
  p.parts = {{"scales", scales}};
  constexpr std::array<std::pair<const char*, const char*>, 3> kMore{
      {{"_zero_point", "zeros"}, {"_g_idx", "order"}, {"_shape", "shape"}}};
  for (const auto& [end, role] : kMore)
    if (const auto* more = r.find(name + end)) p.parts.push_back({role, more});
  r.add(std::move(p));
  return true;
}

}  // namespace packed
