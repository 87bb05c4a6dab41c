// Operators with a fixed cost per element: the operations in the formula of PyTorch's
// documentation, counted by hand. docs/conventions.md defines an operation.
#include <gtest/gtest.h>

#include <sstream>

#include "fake_host.hpp"

namespace {

struct Row {
  int64_t per_result, per_input;
  const char* names;  // separated by spaces
};

const Row kRows[] = {
    {0, 0, "complex"},  // two real tensors laid side by side
    {1, 0, "relu tanh threshold clamp_min clamp_max cat_relu diff"},
    {2, 0, "clamp clip relu6 hardtanh rrelu"},            // min, max; compare, multiply
    {2, 0, "leaky_relu prelu _prelu_kernel hardshrink"},  // compare, multiply; |x| > l
    {2, 0, "add_relu _add_relu add_scalar_relu mul_relu mul_scalar_relu qadd_relu"},
    {2, 0, "dequantize dequantize_per_tensor dequantize_per_channel"},  // (q - zero) * scale
    {2, 0, "rsqrt xlogy special_xlogy special_xlog1py _masked_scale"},  // 1 / sqrt x; x * log y
    {3, 0, "addcmul addcdiv"},                                          // self + value * a * b
    {3, 0, "lerp"},                                                     // a + w * (b - a)
    {3, 0, "cross linalg_cross"},                                       // a * b - c * d
    {3, 0, "logit special_logit"},                                      // log(x / (1 - x))
    {3, 0, "sinc"},                               // sin(pi * x) / (pi * x), pi * x once
    {3, 0, "softshrink nan_to_num"},              // compare, compare, subtract; three comparisons
    {3, 0, "logcumsumexp _logcumsumexp"},         // exp, add, log
    {3, 0, "_weight_norm"},                       // square, add, multiply
    {4, 0, "sigmoid special_expit hardsigmoid"},  // negate, exp, add, divide; clamp(x + 3) / 6
    {4, 0, "elu"},                                // compare, exp, subtract, multiply
    {4, 0, "hypot polar"},                        // sqrt(x * x + y * y); r * cos, r * sin
    {4, 0, "logaddexp logaddexp2"},               // exp, exp, add, log
    {5, 0, "silu glu hardswish"},                 // sigmoid or hardsigmoid, multiply
    {5, 0, "selu celu"},                          // elu with one more multiplication or division
    {5, 0, "softplus"},                           // log(1 + exp(beta * x)) / beta
    {5, 0, "mish"},                               // exp, add, log, tanh, multiply
    {5, 0, "log_sigmoid log_sigmoid_forward"},    // the sigmoid's four, log
    {5, 0, "softmax _softmax special_softmax _safe_softmax"},  // max, subtract, exp, sum, divide
    {5, 0, "log_softmax _log_softmax special_log_softmax"},
    {6, 0, "_masked_softmax"},
    {6, 0, "isclose"},                                   // |a - b| <= atol + rtol * |b|
    {5, 0, "quantize_per_tensor quantize_per_channel"},  // divide, round, shift, min, max
    {5, 2, "quantize_per_tensor_dynamic"},               // also the range of the input
    {7, 0,
     "fake_quantize_per_tensor_affine fake_quantize_per_channel_affine "
     "fake_quantize_per_tensor_affine_cachemask "
     "fake_quantize_per_channel_affine_cachemask"},  // quantize, dequantize
    {0, 1, "sum prod max min amax amin argmax argmin all any _is_all_true _is_any_true"},
    {0, 1, "cumsum cumprod cummax cummin bincount sum_to_size segment_reduce xor_sum"},
    {1, 1, "mean"},
    {0, 2, "aminmax count_nonzero nansum"},
    {1, 2, "nanmean"},
    {1, 2, "norm linalg_norm linalg_vector_norm frobenius_norm native_norm norm_except_dim"},
    {0, 3, "histc"},                                  // bin: subtract, multiply; count
    {0, 3, "l1_loss mse_loss dist trapz trapezoid"},  // subtract, square or abs, add
    {0, 4, "kl_div"},                                 // y * (log y - x), add
    {1, 4, "pairwise_distance"},                      // subtract, eps, square, add; root
    {1, 4, "var"},                                    // add; subtract, square, add; divide
    {2, 4, "std var_mean"},
    {3, 4, "std_mean"},
    {2, 4, "logsumexp special_logsumexp"},  // max, subtract, exp, add; log, add
    {0, 5, "cross_entropy_loss"},           // log_softmax
    {4, 6, "cosine_similarity"},            // three dot products; root, product, max, divide
    {0, 7, "huber_loss smooth_l1_loss"},    // subtract, abs, compare, three on either side, add
    {0, 8, "binary_cross_entropy"},         // y * log(x) + (1 - y) * log(1 - x), add
};

TEST(PerElement, OperationsOfTheFormula) {
  for (const auto& row : kRows) {
    std::istringstream names(row.names);
    for (std::string name; names >> name;) {
      const auto n = fake::op("aten::" + name).tensor("self", {10, 10}).out({3});
      EXPECT_EQ(n.count("other_flops"), 3 * row.per_result + 100 * row.per_input) << name;
      EXPECT_TRUE(n.zero_by_rule("macs")) << name;
    }
  }
}

}  // namespace
