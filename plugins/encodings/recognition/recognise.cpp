#include "recognise.hpp"

#include <algorithm>
#include <array>

#include "reader.hpp"

namespace packed {

std::optional<int64_t> product(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

std::optional<int64_t> share(int64_t a, int64_t b, int64_t c) {
  const auto whole = product(a, b);
  if (!whole || c <= 0 || *whole % c != 0) return std::nullopt;
  return *whole / c;
}

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

int64_t numel(const Stored& t) {
  int64_t n = 1;
  for (const auto d : t.dims) n = product(n, d).value_or(INT64_MAX);
  return n;
}

bool is_float8(int32_t dtype) {
  return dtype >= TMETER_DTYPE_FLOAT8_E5M2 && dtype <= TMETER_DTYPE_FLOAT8_E4M3FNUZ;
}

bool is_float(int32_t dtype) {
  return dtype == TMETER_DTYPE_FLOAT16 || dtype == TMETER_DTYPE_FLOAT32 ||
         dtype == TMETER_DTYPE_BFLOAT16;
}

std::string number(const char* key, int64_t value) {
  return std::string(key) + "=" + std::to_string(value);
}

bool same_rows(const Stored& a, const Stored& b) {
  return !a.dims.empty() && a.dims.size() == b.dims.size() &&
         std::equal(a.dims.begin(), a.dims.end() - 1, b.dims.begin());
}

bool is_of_hidden_size(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames{
      "embed_tokens.weight", "lm_head.weight", "q_proj.weight", "k_proj.weight", "v_proj.weight",
      "gate_proj.weight",    "up_proj.weight", "wte.weight",    ".gate.weight"};
  return std::any_of(kNames.begin(), kNames.end(), [&](auto end) { return name.ends_with(end); });
}

std::set<int64_t> hidden_sizes(const std::vector<Stored>& stored) {
  std::set<int64_t> sizes;
  for (const auto& t : stored)
    if (t.dims.size() == 1 && t.name.find("norm") != t.name.npos && is_float(t.dtype))
      sizes.insert(t.dims[0]);
  return sizes;
}

namespace {

using Recogniser = bool (*)(Reader&, const Stored&);
// In this order, because later methods match more tensors.
constexpr std::array<Recogniser, 10> kRecognisers{
    integers_in_words, compressed_words, torchao,   bitsandbytes, mlx, planes,
    float4_blocks,     scaled_bytes,     int4_rows, small_floats};

// Methods that are recognised; others are named when integers are left over.
constexpr std::array<std::string_view, 14> kMethods{
    "gptq",       "awq",     "compressed-tensors", "fp8",
    "fbgemm_fp8", "mxfp4",   "modelopt",           "bitsandbytes",
    "mlx",        "torchao", "auto-round",         "intel/auto-round",
    "hqq",        "quanto"};

bool is_integer(int32_t dtype) {
  return dtype == TMETER_DTYPE_UINT8 || dtype == TMETER_DTYPE_INT8 || dtype == TMETER_DTYPE_INT16 ||
         dtype == TMETER_DTYPE_INT32 || dtype == TMETER_DTYPE_UINT32 ||
         dtype == TMETER_DTYPE_UINT16;
}

bool may_hold_packed(const Stored& t) {
  return is_integer(t.dtype) || is_float8(t.dtype) || t.element.starts_with("F4") ||
         t.element.starts_with("F6");
}

/// Matrices of integers without an explanation, and packings of unknown form: the parameters are
/// then counted as stored.
void note_unexplained(Reader& r, const std::vector<Stored>& stored) {
  size_t left = 0;
  const Stored* first = nullptr;
  for (const auto& t : stored) {
    const bool is_matrix = is_integer(t.dtype) && t.dims.size() >= 2;
    if (r.is_taken(t) || (!is_matrix && !r.has_unknown_form(t))) continue;
    if (left++ == 0 || (r.has_unknown_form(t) && !r.has_unknown_form(*first))) first = &t;
  }
  if (left == 0) return;
  const auto& c = r.config();
  const bool is_known_method =
      std::find(kMethods.begin(), kMethods.end(), c.method) != kMethods.end();
  const auto method = c.method.empty()
                          ? std::string()
                          : " (config.json names " + loading::in_quotes(c.method) + ")";
  const auto why = r.has_unknown_form(*first)            ? r.unknown_form_reason()
                   : is_known_method || c.method.empty() ? "their shapes allow several ways"
                                                         : "this packing is unknown to tmeter";
  r.note(std::to_string(left) + (left == 1 ? " tensor" : " tensors") + ", such as " +
         loading::in_quotes(first->name) + ", may be packed weights" + method + "; " + why +
         ", so their elements are counted as they are stored");
}

}  // namespace

bool may_be_packed(const std::vector<Stored>& stored) {
  return std::any_of(stored.begin(), stored.end(), may_hold_packed);
}

Recognised recognise(const std::vector<Stored>& stored, const Config& config,
                     const Metadata& metadata) {
  Reader r(stored, config, metadata);
  for (const auto& t : stored) {
    if (r.is_taken(t) || !may_hold_packed(t)) continue;
    std::any_of(kRecognisers.begin(), kRecognisers.end(),
                [&](Recogniser recogniser) { return recogniser(r, t); });
  }
  add_rest_of_mlx(r, stored);
  correct_quanto_widths(r, stored);
  note_unexplained(r, stored);
  return r.take(stored);
}

}  // namespace packed
