#include "backward_work.hpp"

#include <algorithm>
#include <iterator>
#include <tmeter/cpp/op_class.hpp>

#include "derivatives.hpp"
#include "layout.hpp"

namespace training {
namespace {

using tmeter::Cell;
using tmeter::Count;
using tmeter::Node;
using tmeter::Value;

struct Product {
  std::string_view op;       // base name
  std::string_view factors;  // the arguments that are multiplied, separated by spaces
  bool in_torch = true;      // FlopCounterMode has a formula for the operator that runs
};

constexpr Product kProducts[] = {
    {"linear", "input weight"},
    {"mm", "self mat2"},
    {"bmm", "self mat2"},
    {"matmul", "self other"},
    {"linalg_matmul", "self other"},
    {"addmm", "mat1 mat2"},
    {"baddbmm", "batch1 batch2"},
    {"addbmm", "batch1 batch2"},
    {"mv", "self vec", false},
    {"addmv", "mat vec", false},
    {"dot", "self tensor", false},
    {"vdot", "self other", false},
    {"linalg_vecdot", "x y", false},
    {"inner", "self other"},
    {"tensordot", "self other"},
    {"einsum", "tensors"},
    {"bilinear", "input1 input2 weight", false},
    {"_trilinear", "i1 i2 i3", false},
    {"affine_grid_generator", "theta"},
    {"_grouped_mm", "self mat2", false},
    {"grouped_mm_fallback", "input weight", false},
    {"conv_tbc", "self weight", false},
    {"deform_conv2d", "input weight", false},
    {"conv1d", "input weight"},
    {"conv2d", "input weight"},
    {"conv3d", "input weight"},
    {"conv_transpose1d", "input weight"},
    {"conv_transpose2d", "input weight"},
    {"conv_transpose3d", "input weight"},
    {"convolution", "input weight"},
    {"_convolution", "input weight"},
};

const Product* product_of(std::string_view base) {
  const auto* at = std::find_if(std::begin(kProducts), std::end(kProducts),
                                [&](const Product& p) { return p.op == base; });
  return at != std::end(kProducts) ? at : nullptr;
}

/// The number of factors that need a gradient; each item of a list is one.
Count factors_with_gradient(const Node& node, std::string_view factors,
                            const Gradients& gradients) {
  Count gradient_count = 0;
  for_each_word(factors, [&](std::string_view name) {
    const auto value = node.arg(name);
    if (value.is_tensor()) gradient_count += gradients.of(value) ? 1 : 0;
    for (size_t i = 0; i < value.size(); ++i) gradient_count += gradients.of(value[i]) ? 1 : 0;
  });
  return gradient_count;
}

Count groups_of(const Node& node) { return std::max<int64_t>(1, node.arg("groups").as_int(1)); }

/// A matrix times a vector runs as `mv`, which FlopCounterMode does not count.
bool runs_as_vector_product(const Node& node, std::string_view base) {
  if (base != "matmul" && base != "linalg_matmul") return false;
  return node.arg("other").shape().rank() == 1 ||
         (node.arg("self").shape().rank() == 1 && node.arg("other").shape().rank() == 1);
}

Work product_work(const Node& node, const Product& product, Count macs,
                  const Gradients& gradients) {
  const auto base = tmeter::base_name(node.op());
  const bool in_torch =
      product.in_torch && !runs_as_vector_product(node, base) && !tmeter::is_in_place(node.op());
  const auto gradient_count = factors_with_gradient(node, product.factors, gradients);
  Work work{macs * gradient_count, in_torch ? macs : Count(0),
            in_torch ? macs * gradient_count : Count(0)};
  // conv_backward_flop passes the gradient as a filter of all channels: the weight's gradient is
  // counted times the groups.
  if (in_torch && tmeter::op_class(node.op()) == tmeter::OpClass::kConvolution &&
      gradients.of(node.arg("weight")))
    work.torch_backward = work.torch_backward.count() + macs * (groups_of(node) - 1);
  return work;
}

/// An einsum of one or two operands is one product. With more it is a chain of products: all of
/// them have two gradients if all operands need one.
std::optional<Work> einsum_work(const Node& node, Count macs, const Gradients& gradients) {
  const auto operands = node.arg("tensors");
  if (operands.size() <= 2) return std::nullopt;
  const auto gradient_count = factors_with_gradient(node, "tensors", gradients);
  if (gradient_count == Count(0)) return Work{Count(0), macs, Count(0)};
  if (gradient_count != Count(static_cast<int64_t>(operands.size())))
    return Work{Cell::unsupported(), macs, Cell::unsupported()};
  return Work{macs * 2, macs, macs * 2};
}

/// Flash attention computes the scores again, then the gradients of value, probabilities, query and
/// key: five products (sdpa_backward_flop_count). Unfused, each of the two has the gradients that
/// are needed.
Work attention_work(const Node& node, Count macs, const Gradients& gradients,
                    const Settings& settings) {
  const auto query = node.arg("query"), key = node.arg("key"), value = node.arg("value");
  if (query.shape().empty() || value.shape().empty())
    return {Cell::unsupported(), macs, Cell::unsupported()};
  const int64_t e = query.shape().back(), ev = value.shape().back();
  if (e + ev <= 0) return {Count(0), Count(0), Count(0)};
  const auto per_width = macs / (e + ev);  // macs = batch × heads × L × S × (E + E_v)
  Count backward = 0;
  if (runs_fused(node, gradients, settings)) {
    if (gradients.through(node)) backward = per_width * (3 * e + 2 * ev);
  } else {
    const bool scores = gradients.of(query) || gradients.of(key);
    const auto needs_gradient = [&](const Value& v) {
      return gradients.of(v) ? Count(1) : Count(0);
    };
    backward = per_width * e * (needs_gradient(query) + needs_gradient(key)) +
               per_width * ev * (needs_gradient(value) + (scores ? 1 : 0));
  }
  return {backward, macs, backward};
}

/// The matrices of a recurrent operator: of each layer and direction those for the input, the
/// state, the projection.
struct Matrices {
  Count all = 0, trained = 0, of_state = 0, of_model_input = 0;
};

Matrices matrices_of(const Node& node, const Value& params, const Gradients& gradients) {
  Matrices out;
  const int64_t directions = node.arg("bidirectional").as_bool() ? 2 : 1;
  const int64_t groups = std::max<int64_t>(1, node.arg("num_layers").as_int(1) * directions);
  int64_t number = 0;  // number of the matrix in its group
  const auto per_group = static_cast<int64_t>(params.size()) / groups;
  for (size_t i = 0; i < params.size() && per_group > 0; ++i) {
    const auto group = static_cast<int64_t>(i) / per_group;
    if (static_cast<int64_t>(i) % per_group == 0) number = 0;
    if (params[i].shape().rank() != 2) continue;
    const auto elements = params[i].numel();
    out.all += elements;
    if (gradients.of(params[i])) out.trained += elements;
    if (number == 0 && group < directions) out.of_model_input += elements;
    if (number == 1) out.of_state += elements;
    ++number;
  }
  return out;
}

/// Every matrix has the gradients of its weights and of its other factor, except for an input
/// and a first state that need no gradient.
Work recurrent_work(const Node& node, std::string_view base, Count macs,
                    const Gradients& gradients) {
  // An LSTM is one oneDNN kernel on the CPU; the others are made of products.
  const bool counted = base != "lstm";
  const auto in_torch = [counted](const Cell& cell) { return counted ? cell : Cell(Count(0)); };
  if (!gradients.through(node)) return {Count(0), in_torch(macs), Count(0)};
  const auto input = node.arg("input"), params = node.arg("params"), state = node.arg("hx");
  const auto m = matrices_of(node, params, gradients);
  if (!input.is_tensor() || m.all == Count(0))
    return {Cell::unsupported(), in_torch(macs), in_torch(Cell::unsupported())};
  const auto rows = macs / m.all;  // steps × batch
  const auto shape = input.shape();
  const Count batch = shape.rank() < 3 ? 1 : shape[node.arg("batch_first").as_bool() ? 0 : 1];
  auto backward = rows * (m.trained + m.all);
  if (!gradients.of(input)) backward = backward - rows * m.of_model_input;
  if (!gradients.of_any(state)) backward = backward - batch * m.of_state;
  return {backward, in_torch(macs), in_torch(backward)};
}

/// gru_cell(input, hx, w_ih, w_hh, …): two products.
Work cell_work(const Node& node, Count macs, const Gradients& gradients) {
  const auto w_ih = node.arg("w_ih"), w_hh = node.arg("w_hh");
  const auto all = w_ih.numel() + w_hh.numel();
  if (all == Count(0)) return {Cell::unsupported(), macs, Cell::unsupported()};
  const auto rows = macs / all;
  const auto needs_gradient = [&](const Value& v) {
    return gradients.of_any(v) ? Count(1) : Count(0);
  };
  const auto state = node.arg("hx");
  const auto backward =
      rows * w_ih.numel() * (needs_gradient(node.arg("input")) + needs_gradient(w_ih)) +
      rows * w_hh.numel() *
          (needs_gradient(state.is_list() ? state[0] : state) + needs_gradient(w_hh));
  return {backward, macs, backward};
}

}  // namespace

bool is_attention(std::string_view base) {
  return base == "scaled_dot_product_attention" || base.starts_with("_scaled_dot_product_");
}

bool runs_fused(const Node& node, const Gradients& gradients, const Settings& settings) {
  if (tmeter::base_name(node.op()) == "_scaled_dot_product_attention_math") return false;
  if (tmeter::base_name(node.op()) != "scaled_dot_product_attention") return true;
  if (settings.attention == Attention::kMath) return false;
  const auto query = node.arg("query"), key = node.arg("key"), value = node.arg("value");
  const auto mask = node.arg("attn_mask");
  // sdp_utils_cpp.cpp, use_flash_attention_cpp; CUDA's efficient kernel takes dropout, too.
  if (query.shape().rank() != 4 || key.shape().rank() != 4 || value.shape().rank() != 4)
    return false;
  if (settings.device == Device::kCpu && node.arg("dropout_p").as_float() > 0) return false;
  if (mask.is_tensor() && gradients.of(mask)) return false;
  return query.shape().back() == value.shape().back() && key.shape().back() == query.shape().back();
}

namespace {

Work work_of(const Node& node, const Cell& macs, const Gradients& gradients,
             const Settings& settings) {
  if (const auto* rule = gradients.rule_of(node))  // FlopCounterMode counts none of such operators
    return {Count(rule->macs), Count(0), Count(0)};
  if (macs.is_zero_by_rule()) return {macs, macs, macs};
  if (!macs.is_int()) return {Cell::unsupported(), Cell::unsupported(), Cell::unsupported()};
  const auto base = tmeter::base_name(node.op());
  const auto count = macs.count();
  if (is_attention(base)) return attention_work(node, count, gradients, settings);
  if (base == "einsum")
    if (const auto work = einsum_work(node, count, gradients)) return *work;
  if (tmeter::op_class(node.op()) == tmeter::OpClass::kRecurrent)
    return base.ends_with("_cell") ? cell_work(node, count, gradients)
                                   : recurrent_work(node, base, count, gradients);
  if (const auto* product = product_of(base)) return product_work(node, *product, count, gradients);
  if (!gradients.through(node)) return {Count(0), count, Count(0)};
  return {Cell::unsupported(), count, Cell::unsupported()};
}

/// Two more products: both matrices and the value between them have gradients.
void add_adapter(const Adapter& adapter, const Gradients& gradients, Work& work) {
  const auto to_rank = adapter.rows * adapter.in * adapter.rank;
  const auto from_rank = adapter.rows * adapter.rank * adapter.out;
  const auto backward = to_rank * (gradients.of(adapter.input) ? 2 : 1) + from_rank * 2;
  const auto add = [](Cell& cell, Count more) {
    if (cell.known()) cell = Cell((cell.is_zero_by_rule() ? Count(0) : cell.count()) + more);
  };
  work.adapter = adapter.macs();
  add(work.torch_forward, adapter.macs());
  add(work.backward, backward);
  add(work.torch_backward, backward);
}

}  // namespace

Work backward_work(const Node& node, const Cell& macs, const Gradients& gradients,
                   const Settings& settings) {
  auto work = work_of(node, macs, gradients, settings);
  if (const auto adapter = gradients.adapters().of(node)) add_adapter(*adapter, gradients, work);
  // Without an incoming gradient nothing is computed.
  if (!gradients.reached(node) && !macs.is_zero_by_rule())
    work.backward = work.torch_backward = Cell(Count(0));
  return work;
}

namespace {

using tmeter::OpClass;

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
  gradients.for_each_gradient(node, [&](const Value& value, std::string_view) {
    if (value.numel() < node.result(0).numel()) out += size;
  });
  return out;
}

}  // namespace training
