#include "gradient_memory.hpp"

#include <algorithm>
#include <iterator>
#include <tmeter/cpp/op_class.hpp>

#include "backward_work.hpp"
#include "views.hpp"

namespace training {
namespace {

using tmeter::Count;
using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

/// The number of tensors of the result's size that a formula makes beside the gradient
/// (derivatives.yaml, FunctionsManual.cpp).
struct Formula {
  std::string_view op;
  int64_t temporaries;
};

constexpr Formula kFormulas[] = {
    {"pow", 1},                                        // grad * (exponent * self.pow(exponent - 1))
    {"square", 1},                                     // pow
    {"rsqrt", 2},                                      // -0.5 * grad * result.pow(3)
    {"sqrt", 1},                                       // grad / (2 * result)
    {"div", 1},                                        // -grad * ((self / other) / other)
    {"true_divide", 1}, {"divide", 1},    {"sin", 1},  // grad * self.cos()
    {"cos", 1},                                        // grad * -self.sin()
    {"abs", 1},                                        // grad * self.sgn()
    {"erf", 2},                                        // 2 / sqrt(pi) * exp(-(self.pow(2))) * grad
    {"reciprocal", 1},                                 // -grad * (result * result)
    {"maximum", 1},     {"minimum", 1},   {"std", 1}, {"var", 1}, {"linalg_vector_norm", 1},
    {"norm", 1},        {"logsumexp", 1},  // grad * (self - result).exp()
};

/// Arguments have parts of the gradient, or one element of it expanded.
bool has_parts(std::string_view base) {
  constexpr std::string_view kNames[] = {"cat",    "concat", "concatenate", "stack",
                                         "hstack", "vstack", "sum"};
  return std::find(std::begin(kNames), std::end(kNames), base) != std::end(kNames);
}

}  // namespace

bool shares_gradient(const Node& node, std::string_view argument, const Value& value) {
  const auto base = tmeter::base_name(node.op());
  const auto result = node.result(0);
  if (base == "add" || (base == "sub" && argument == "self"))  // a parameter gets a copy of its own
    return value.numel() == result.numel() && value.dtype() == result.dtype() && !value.tensor();
  if (has_parts(base)) return true;
  const auto kind = tmeter::op_class(node.op());
  if (kind != OpClass::kView && kind != OpClass::kCopy && kind != OpClass::kControl) return false;
  return result.is_tensor() && node.result_count() == 1 && value.numel() == result.numel() &&
         value.dtype() == result.dtype() && !base.ends_with("dropout");
}

Count backward_temporaries(const Node& node, const Gradients& gradients, const Settings& settings) {
  const auto base = tmeter::base_name(node.op());
  const auto size = bytes_of(node.result(0), settings);
  if (base == "scaled_dot_product_attention" && !runs_fused(node, gradients, settings)) {
    const auto query = node.arg("query"), key = node.arg("key");
    if (query.shape().rank() < 2 || key.shape().rank() < 2) return 0;
    // the gradients of the probabilities and of the scores
    return query.shape().product(0, query.shape().rank() - 1) * key.shape()[-2] *
           element_bytes(query.dtype(), settings) * 2;
  }
  const auto* formula = std::find_if(std::begin(kFormulas), std::end(kFormulas),
                                     [&](const Formula& f) { return f.op == base; });
  Count out = formula == std::end(kFormulas) ? Count(0) : size * formula->temporaries;
  // A broadcast argument has a gradient of the result's size, which is then summed up.
  const auto kind = tmeter::op_class(node.op());
  if (kind != OpClass::kElementwise || base == "add" || base == "sub") return out;
  gradients.for_each_wanted(node, [&](const Value& value, std::string_view) {
    if (value.numel() < node.result(0).numel()) out += size;
  });
  return out;
}

}  // namespace training
