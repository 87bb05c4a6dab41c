// The table of per-element costs. elementwise.hpp defines one operation.
#include "elementwise.hpp"

#include <algorithm>
#include <array>

namespace flops {
namespace {

struct PerElement {
  std::string_view name;  // the result of tmeter::base_name
  int64_t per_output;
  int64_t per_input;
};

// Sorted by name. The formula is given where the number is not 1.
constexpr std::array kCosts{
    // clang-format off
    PerElement{"_add_relu", 2, 0},
    PerElement{"_euclidean_dist", 1, 0},
    PerElement{"_is_all_true", 0, 1},
    PerElement{"_is_any_true", 0, 1},
    PerElement{"_log_softmax", kSoftmaxCost, 0},
    PerElement{"_logcumsumexp", 3, 0},
    PerElement{"_masked_scale", 2, 0},
    PerElement{"_masked_softmax", kSoftmaxCost + 1, 0},
    PerElement{"_prelu_kernel", 2, 0},
    PerElement{"_safe_softmax", kSoftmaxCost, 0},
    PerElement{"_softmax", kSoftmaxCost, 0},
    PerElement{"_weight_norm", 3, 0},               // square, add, multiply
    PerElement{"add_relu", 2, 0},
    PerElement{"add_scalar_relu", 2, 0},
    PerElement{"addcdiv", 3, 0},                    // self + value * a / b
    PerElement{"addcmul", 3, 0},                    // self + value * a * b
    PerElement{"all", 0, 1},
    PerElement{"amax", 0, 1},
    PerElement{"amin", 0, 1},
    PerElement{"aminmax", 0, 2},
    PerElement{"any", 0, 1},
    PerElement{"argmax", 0, 1},
    PerElement{"argmin", 0, 1},
    PerElement{"binary_cross_entropy", 0, 8},       // y*log(x) + (1-y)*log(1-x), then the sum
    PerElement{"bincount", 0, 1},
    PerElement{"cat_relu", 1, 0},
    PerElement{"celu", 5, 0},                       // a * (exp(x / a) - 1) where x < 0
    PerElement{"clamp", 2, 0},
    PerElement{"clamp_max", 1, 0},
    PerElement{"clamp_min", 1, 0},
    PerElement{"clip", 2, 0},
    PerElement{"complex", 0, 0},
    PerElement{"cosine_similarity", 4, 6},          // three dot products; sqrt, product, max, divide
    PerElement{"count_nonzero", 0, 2},
    PerElement{"cross", 3, 0},
    PerElement{"cross_entropy_loss", 0, kSoftmaxCost},
    PerElement{"cummax", 0, 1},
    PerElement{"cummin", 0, 1},
    PerElement{"cumprod", 0, 1},
    PerElement{"cumsum", 0, 1},
    PerElement{"dequantize", 2, 0},                 // (q - zero) * scale
    PerElement{"dequantize_per_channel", 2, 0},
    PerElement{"dequantize_per_tensor", 2, 0},
    PerElement{"diff", 1, 0},
    PerElement{"dist", 0, 3},
    PerElement{"elu", 4, 0},                        // a * (exp(x) - 1) where x < 0
    PerElement{"fake_quantize_per_channel_affine", 7, 0},  // divide, round, shift, clamp, shift, scale
    PerElement{"fake_quantize_per_channel_affine_cachemask", 7, 0},
    PerElement{"fake_quantize_per_tensor_affine", 7, 0},
    PerElement{"fake_quantize_per_tensor_affine_cachemask", 7, 0},
    PerElement{"frobenius_norm", 1, 2},
    PerElement{"glu", kSigmoidCost + 1, 0},         // a * sigmoid(b)
    PerElement{"hardshrink", 2, 0},
    PerElement{"hardsigmoid", 4, 0},                // clamp(x + 3, 0, 6) / 6
    PerElement{"hardswish", 5, 0},                  // x * hardsigmoid(x)
    PerElement{"hardtanh", 2, 0},
    PerElement{"histc", 0, 3},                      // bin: subtract, multiply; count
    PerElement{"huber_loss", 0, 7},                 // subtract, abs, compare, three of either side, sum
    PerElement{"hypot", 4, 0},
    PerElement{"isclose", 6, 0},                    // |a - b| <= atol + rtol * |b|
    PerElement{"kl_div", 0, 4},                     // y * (log y - x), then the sum
    PerElement{"l1_loss", 0, 3},
    PerElement{"leaky_relu", 2, 0},                 // compare, multiply
    PerElement{"lerp", 3, 0},
    PerElement{"linalg_cross", 3, 0},
    PerElement{"linalg_norm", 1, 2},
    PerElement{"linalg_vector_norm", 1, 2},
    PerElement{"log_sigmoid", 5, 0},                // -log(1 + exp(-x))
    PerElement{"log_sigmoid_forward", 5, 0},
    PerElement{"log_softmax", kSoftmaxCost, 0},
    PerElement{"logaddexp", 4, 0},                  // log(exp(a) + exp(b))
    PerElement{"logaddexp2", 4, 0},
    PerElement{"logcumsumexp", 3, 0},
    PerElement{"logit", 3, 0},                      // log(x / (1 - x))
    PerElement{"logsumexp", 2, 4},
    PerElement{"max", 0, 1},
    PerElement{"mean", 1, 1},
    PerElement{"min", 0, 1},
    PerElement{"mish", 5, 0},                       // x * tanh(log(1 + exp(x)))
    PerElement{"mse_loss", 0, 3},
    PerElement{"mul_relu", 2, 0},
    PerElement{"mul_scalar_relu", 2, 0},
    PerElement{"nan_to_num", 3, 0},
    PerElement{"nanmean", 1, 2},
    PerElement{"nansum", 0, 2},
    PerElement{"native_norm", 1, 2},
    PerElement{"norm", 1, 2},                       // square, add; square root
    PerElement{"norm_except_dim", 1, 2},
    PerElement{"pairwise_distance", 1, 4},          // subtract, eps, square, add; square root
    PerElement{"polar", 4, 0},
    PerElement{"prelu", 2, 0},
    PerElement{"prod", 0, 1},
    PerElement{"qadd_relu", 2, 0},
    PerElement{"quantize_per_channel", 5, 0},       // divide, round, shift, clamp
    PerElement{"quantize_per_tensor", 5, 0},
    PerElement{"quantize_per_tensor_dynamic", 5, 2},
    PerElement{"relu", kReluCost, 0},
    PerElement{"relu6", 2, 0},
    PerElement{"rrelu", 2, 0},
    PerElement{"rsqrt", 2, 0},
    PerElement{"segment_reduce", 0, 1},
    PerElement{"selu", 5, 0},
    PerElement{"sigmoid", kSigmoidCost, 0},
    PerElement{"silu", kSigmoidCost + 1, 0},        // x * sigmoid(x)
    PerElement{"sinc", 3, 0},
    PerElement{"smooth_l1_loss", 0, 7},
    PerElement{"softmax", kSoftmaxCost, 0},
    PerElement{"softplus", 5, 0},                   // log(1 + exp(beta * x)) / beta
    PerElement{"softshrink", 3, 0},
    PerElement{"special_expit", kSigmoidCost, 0},
    PerElement{"special_log_softmax", kSoftmaxCost, 0},
    PerElement{"special_logit", 3, 0},
    PerElement{"special_logsumexp", 2, 4},
    PerElement{"special_softmax", kSoftmaxCost, 0},
    PerElement{"special_xlog1py", 2, 0},
    PerElement{"special_xlogy", 2, 0},
    PerElement{"std", 2, 4},                        // see var; square root
    PerElement{"std_mean", 3, 4},
    PerElement{"sum", 0, 1},
    PerElement{"sum_to_size", 0, 1},
    PerElement{"tanh", kTanhCost, 0},
    PerElement{"threshold", 1, 0},
    PerElement{"trapezoid", 0, 3},
    PerElement{"trapz", 0, 3},
    PerElement{"var", 1, 4},                        // mean: add; subtract, square, add; divide
    PerElement{"var_mean", 2, 4},
    PerElement{"xlogy", 2, 0},
    PerElement{"xor_sum", 0, 1},
    // clang-format on
};
static_assert(std::is_sorted(kCosts.begin(), kCosts.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

const PerElement* find(std::string_view name) {
  const auto at =
      std::lower_bound(kCosts.begin(), kCosts.end(), name,
                       [](const auto& row, std::string_view key) { return row.name < key; });
  return at != kCosts.end() && at->name == name ? &*at : nullptr;
}

// P × R pairs of width M: subtract, multiply (or abs, pow), add; a root per pair.
Count pair_distances(const Node& n) {
  const auto x = tensor_arg(n, {"x1", "self"}).shape();
  return output(n).numel() * (Count(3) * x.back() + 1);
}

Count gelu(const Node& n) {
  const bool tanh = n.arg("approximate").text() == "tanh";
  return output(n).numel() * (tanh ? kGeluTanhCost : kGeluErfCost);
}

// One operation per element that is added (or compared) into the result.
Count scattered(const Node& n) { return n.arg(n.arg("src").is_none() ? "source" : "src").numel(); }

// index_put adds only if it accumulates.
Count index_put(const Node& n) {
  return n.arg("accumulate").as_bool() ? n.arg("values").numel() : Count(0);
}

}  // namespace

Cell per_element_cost(const Node& n, std::string_view base_name) {
  const auto* cost = find(base_name);
  if (!cost) return Cell::unsupported();
  // The input of a reduction is larger than its result; an input of max(a, b) may be smaller.
  const auto source = elements(n.arg(size_t{0}));
  const auto result = elements(n.result(0));
  return result * cost->per_output + std::max(source, result) * cost->per_input;
}

void register_elementwise(tmeter::Registrar& r) {
  other_rules(r, {"aten::cdist", "aten::_cdist_forward", "aten::pdist", "aten::_pdist_forward"},
              pair_distances);
  other_rules(r,
              {"aten::index_add", "aten::index_add_", "aten::scatter_add", "aten::scatter_add_",
               "aten::scatter_reduce", "aten::scatter_reduce_", "aten::index_reduce",
               "aten::index_reduce_"},
              scattered);
  other_rules(r, {"aten::gelu", "aten::gelu_"}, gelu);
  other_rules(r,
              {"aten::index_put", "aten::index_put_", "aten::_index_put_impl",
               "aten::_index_put_impl_", "aten::_unsafe_index_put"},
              index_put);
}

}  // namespace flops
