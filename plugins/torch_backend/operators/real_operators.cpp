#include "operators/real_operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "operators/evaluator.hpp"
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Stack;

// --- checks ---

bool holds(const c10::IValue& v, int64_t number) {
  if (v.isInt()) return v.toInt() == number;
  if (!v.isTensor() || !v.toTensor().defined() || v.toTensor().is_meta()) return false;
  const auto& t = v.toTensor();
  return at::isIntegralType(t.scalar_type(), /*includeBool=*/false) && t.numel() > 0 &&
         at::eq(t, number).any().item<bool>();
}

int64_t smallest(const c10::IValue& v) {
  const auto dtype =
      v.isTensor() && v.toTensor().defined() ? v.toTensor().scalar_type() : at::kLong;
  return dtype == at::kInt ? std::numeric_limits<int32_t>::min()
                           : std::numeric_limits<int64_t>::min();
}

/// Dividing the smallest integer by -1 raises a signal.
void check_division(const OperatorInfo& info, const Stack& args) {
  if (args.size() < 2) return;
  TORCH_CHECK(!holds(args[1], -1) || !holds(args[0], smallest(args[0])),
              "divides the smallest integer by -1 (", info.name, ")");
}

/// A scale that contradicts the sizes leads to positions outside the image.
void check_scales(const OperatorInfo& info, const Stack& args) {
  const auto* x = argument_named(info, args, "input");
  if (!x) x = argument_named(info, args, "self");
  const auto* size = argument_named(info, args, "output_size");
  if (!x || !x->isTensor() || !size || !size->isIntList()) return;
  const auto out = size->toIntVector();
  const auto in = x->toTensor().sizes();
  TORCH_CHECK(in.size() == out.size() + 2, "takes an image of ", out.size() + 2, " dims");
  size_t dim = 0;
  for (size_t i = 0; i < info.args.size(); ++i) {
    if (info.args[i].name.rfind("scales", 0) != 0) continue;
    const auto d = std::min(dim++, out.size() - 1);
    if (!args[i].isDouble()) continue;
    const double expected = static_cast<double>(in[d + 2]) * args[i].toDouble();
    TORCH_CHECK(std::abs(expected - static_cast<double>(out[d])) <= 1,
                "has a scale that contradicts its sizes");
  }
}

/// LibTorch does not check the positions in a sorter.
void check_no_sorter(const OperatorInfo& info, const Stack& args) {
  const auto* sorter = argument_named(info, args, "sorter");
  TORCH_CHECK(!sorter || sorter->isNone(), "does not run with a sorter");
}

// --- work ---

double all_elements(const Stack& values) {
  double numel = 0;
  for (const auto& v : values) {
    for_each_tensor(v, [&](const at::Tensor& t) { numel += static_cast<double>(t.numel()); });
  }
  return numel;
}

double elements(const OperatorInfo&, const Stack& args, const Stack& results) {
  return all_elements(args) + all_elements(results);
}

double sorting(const OperatorInfo& info, const Stack& args, const Stack& results) {
  const double all = elements(info, args, results);
  return all * std::log2(all + 2);
}

/// [m, k] times [k, n] gives [m, n]: the root of the product of the three sizes is m k n. Batches
/// make it larger.
double matrices(const OperatorInfo& info, const Stack& args, const Stack& results) {
  std::vector<double> sizes;
  for (const auto& a : args) {
    for_each_tensor(a,
                    [&](const at::Tensor& t) { sizes.push_back(static_cast<double>(t.numel())); });
  }
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.resize(2, 1);
  return elements(info, args, results) + std::sqrt(sizes[0] * sizes[1] * all_elements(results));
}

/// For any equation: each product has one factor of each operand.
double all_pairs(const OperatorInfo&, const Stack& args, const Stack&) {
  double product = 1;
  for (const auto& a : args) {
    for_each_tensor(a, [&](const at::Tensor& t) { product *= static_cast<double>(t.numel()); });
  }
  return product;
}

/// Each element of the larger side times a filter: weight [out, in, kernel…], transposed
/// [in, out, kernel…].
double filters(const OperatorInfo& info, const Stack& args, const Stack& results) {
  const double all = elements(info, args, results);
  const auto* weight = argument_named(info, args, "weight");
  if (!weight || !weight->isTensor() || weight->toTensor().dim() == 0) return all;
  const auto& w = weight->toTensor();
  const auto outer = static_cast<double>(std::max<int64_t>(1, w.size(0)));
  return all * std::max(1.0, static_cast<double>(w.numel()) / outer);
}

double windows(const OperatorInfo& info, const Stack& args, const Stack& results) {
  const auto* kernel = argument_named(info, args, "kernel_size");
  double window = 1;
  if (kernel && kernel->isIntList()) {
    for (const auto k : kernel->toIntVector())
      window *= static_cast<double>(std::max<int64_t>(k, 1));
  }
  return all_elements(args) + all_elements(results) * window;
}

/// Every query is multiplied by every key: [batch…, queries, e] and [batch…, keys, e].
double attention(const OperatorInfo& info, const Stack& args, const Stack& results) {
  const auto* key = argument_named(info, args, "key");
  const bool has_keys = key && key->isTensor() && key->toTensor().dim() >= 2;
  const double keys = has_keys ? static_cast<double>(key->toTensor().size(-2)) : 1;
  return all_elements(args) + 2 * all_elements(results) * keys;
}

/// Every step times every weight.
double recurrence(const OperatorInfo& info, const Stack& args, const Stack& results) {
  const double all = elements(info, args, results);
  const auto* input = argument_named(info, args, "input");
  if (!input) input = argument_named(info, args, "data");
  if (!input || !input->isTensor() || input->toTensor().dim() == 0) return all * all;
  const auto& x = input->toTensor();
  const auto width = static_cast<double>(std::max<int64_t>(1, x.size(-1)));
  return all + static_cast<double>(x.numel()) / width * all;
}

// --- the table ---

constexpr Work kElements = nullptr;

/// Work is proportional to the elements, and LibTorch checks everything that a file chooses.
constexpr std::string_view kPlain[] = {
    // One element at a time; LibTorch broadcasts and checks the shapes.
    "aten::abs", "aten::absolute", "aten::acos", "aten::acosh", "aten::add", "aten::addcdiv",
    "aten::addcmul", "aten::arccos", "aten::arcsin", "aten::arctan", "aten::arctan2", "aten::asin",
    "aten::asinh", "aten::atan", "aten::atan2", "aten::atanh", "aten::bitwise_and",
    "aten::bitwise_not", "aten::bitwise_or", "aten::bitwise_xor", "aten::__and__", "aten::__iand__",
    "aten::__ior__", "aten::__ixor__", "aten::__or__", "aten::__xor__", "aten::ceil", "aten::celu",
    "aten::clamp", "aten::clamp_max", "aten::clamp_min", "aten::clip", "aten::copysign",
    "aten::cos", "aten::cosh", "aten::deg2rad", "aten::elu", "aten::eq", "aten::erf", "aten::erfc",
    "aten::erfinv", "aten::exp", "aten::exp2", "aten::expm1", "aten::fix", "aten::float_power",
    "aten::floor", "aten::fmax", "aten::fmin", "aten::frac", "aten::ge", "aten::gelu", "aten::glu",
    "aten::greater", "aten::greater_equal", "aten::gt", "aten::hardshrink", "aten::hardsigmoid",
    "aten::hardswish", "aten::hardtanh", "aten::hypot", "aten::isclose", "aten::isfinite",
    "aten::isinf", "aten::isnan", "aten::isneginf", "aten::isposinf", "aten::le",
    "aten::leaky_relu", "aten::lerp", "aten::less", "aten::less_equal", "aten::lgamma", "aten::log",
    "aten::log10", "aten::log1p", "aten::log2", "aten::log_sigmoid", "aten::logaddexp",
    "aten::logical_and", "aten::logical_not", "aten::logical_or", "aten::logical_xor",
    "aten::logit", "aten::lt", "aten::masked_fill", "aten::maximum", "aten::minimum", "aten::mish",
    "aten::mul", "aten::multiply", "aten::nan_to_num", "aten::ne", "aten::neg", "aten::negative",
    "aten::not_equal", "aten::positive", "aten::pow", "aten::prelu", "aten::rad2deg",
    "aten::reciprocal", "aten::relu", "aten::relu6", "aten::round", "aten::rsqrt", "aten::rsub",
    "aten::selu", "aten::sgn", "aten::sigmoid", "aten::sign", "aten::signbit", "aten::silu",
    "aten::sin", "aten::sinc", "aten::sinh", "aten::softplus", "aten::softshrink", "aten::sqrt",
    "aten::square", "aten::sub", "aten::subtract", "aten::tan", "aten::tanh", "aten::threshold",
    "aten::trunc", "aten::where", "aten::xlogy",
    // Dividing integers can trap.
    "aten::true_divide",
    // Without effect: the model is in evaluation mode.
    "aten::dropout", "aten::alpha_dropout", "aten::feature_alpha_dropout", "aten::feature_dropout",
    // Copies and types
    "aten::clone", "aten::contiguous", "aten::copy", "aten::cpu", "aten::cuda", "aten::detach",
    "aten::fill", "aten::alias", "aten::lift_fresh", "aten::lift_fresh_copy", "aten::requires_grad",
    "aten::to", "aten::_to_copy", "aten::type_as", "aten::zero", "aten::conj",
    "aten::conj_physical", "aten::resolve_conj", "aten::resolve_neg", "aten::is_conj",
    "aten::is_neg",
    // Facts about a tensor
    "aten::dim", "aten::is_complex", "aten::is_contiguous", "aten::is_floating_point",
    "aten::is_inference", "aten::is_nonzero", "aten::is_same_size", "aten::is_signed", "aten::item",
    "aten::_local_scalar_dense", "aten::numel", "aten::result_type", "aten::size",
    "aten::storage_offset", "aten::stride", "aten::sym_numel", "aten::sym_size", "aten::sym_stride",
    "aten::equal", "aten::allclose",
    // Views: LibTorch keeps sizes and strides within the storage.
    "aten::broadcast_tensors", "aten::broadcast_to", "aten::chunk", "aten::diagonal",
    "aten::expand", "aten::expand_as", "aten::flatten", "aten::imag", "aten::mH", "aten::mT",
    "aten::meshgrid", "aten::moveaxis", "aten::movedim", "aten::narrow", "aten::numpy_T",
    "aten::permute", "aten::ravel", "aten::real", "aten::reshape", "aten::reshape_as",
    "aten::select", "aten::slice", "aten::split", "aten::split_with_sizes", "aten::squeeze",
    "aten::swapaxes", "aten::swapdims", "aten::t", "aten::tensor_split", "aten::transpose",
    "aten::unbind", "aten::unflatten", "aten::unfold", "aten::unsafe_chunk", "aten::unsafe_split",
    "aten::unsqueeze", "aten::view", "aten::_unsafe_view", "aten::view_as", "aten::view_as_complex",
    "aten::view_as_real",
    // Concatenation, padding, rearrangement
    "aten::atleast_1d", "aten::atleast_2d", "aten::block_diag", "aten::cat", "aten::column_stack",
    "aten::complex", "aten::concat", "aten::concatenate", "aten::constant_pad_nd", "aten::diag",
    "aten::diag_embed", "aten::dstack", "aten::flip", "aten::fliplr", "aten::flipud",
    "aten::hstack", "aten::pad", "aten::polar", "aten::reflection_pad1d", "aten::reflection_pad2d",
    "aten::repeat", "aten::replication_pad1d", "aten::replication_pad2d", "aten::roll",
    "aten::rot90", "aten::stack", "aten::tile", "aten::tril", "aten::triu", "aten::vstack",
    // Selection by index: these check every index.
    "aten::gather", "aten::index", "aten::index_add", "aten::index_fill", "aten::index_put",
    "aten::index_select", "aten::masked_select", "aten::scatter", "aten::scatter_add",
    "aten::take_along_dim", "aten::embedding", "aten::one_hot", "aten::argwhere", "aten::nonzero",
    "aten::nonzero_numpy",
    // Along dims
    "aten::all", "aten::amax", "aten::amin", "aten::aminmax", "aten::any", "aten::argmax",
    "aten::argmin", "aten::count_nonzero", "aten::cummax", "aten::cummin", "aten::cumprod",
    "aten::cumsum", "aten::diff", "aten::log_softmax", "aten::logcumsumexp", "aten::logsumexp",
    "aten::max", "aten::mean", "aten::min", "aten::nanmean", "aten::nansum", "aten::norm",
    "aten::linalg_norm", "aten::linalg_vector_norm", "aten::prod", "aten::softmax", "aten::std",
    "aten::std_mean", "aten::sum", "aten::trace", "aten::var", "aten::var_mean",
    // Factories
    "aten::arange", "aten::bernoulli", "aten::empty", "aten::empty_like", "aten::eye", "aten::full",
    "aten::full_like", "aten::hamming_window", "aten::hann_window", "aten::linspace",
    "aten::logspace", "aten::new_empty", "aten::new_full", "aten::new_ones", "aten::new_zeros",
    "aten::normal", "aten::ones", "aten::ones_like", "aten::rand", "aten::rand_like",
    "aten::randint", "aten::randint_like", "aten::randn", "aten::randn_like", "aten::randperm",
    "aten::scalar_tensor", "aten::tril_indices", "aten::triu_indices", "aten::uniform",
    "aten::zeros", "aten::zeros_like",
    // Layers
    "aten::batch_norm", "aten::group_norm", "aten::instance_norm", "aten::layer_norm",
    "aten::rms_norm", "aten::cosine_similarity", "aten::pixel_shuffle", "aten::pixel_unshuffle",
    "aten::channel_shuffle", "aten::outer", "aten::adaptive_avg_pool1d",
    "aten::adaptive_avg_pool2d", "aten::adaptive_avg_pool3d", "aten::adaptive_max_pool1d",
    "aten::adaptive_max_pool2d"};

constexpr RealOperator kSpecial[] = {
    // Dividing integers can trap.
    {"aten::div", kElements, check_division},
    {"aten::divide", kElements, check_division},
    {"aten::floor_divide", kElements, check_division},
    {"aten::fmod", kElements, check_division},
    {"aten::remainder", kElements, check_division},
    // Concatenation, padding, rearrangement
    {"aten::repeat_interleave", kElements, check_repeats},
    // Sorting
    {"aten::argsort", sorting},
    {"aten::kthvalue", sorting},
    {"aten::median", sorting},
    {"aten::msort", sorting},
    {"aten::sort", sorting},
    {"aten::topk", sorting},
    {"aten::unique_consecutive", sorting},
    {"aten::unique_dim", sorting},
    {"aten::_unique", sorting},
    {"aten::_unique2", sorting},
    {"aten::isin", sorting},
    {"aten::bucketize", sorting},
    {"aten::searchsorted", sorting, check_no_sorter},
    // Layers
    {"aten::addmm", matrices},
    {"aten::addmv", matrices},
    {"aten::baddbmm", matrices},
    {"aten::bmm", matrices},
    {"aten::conv1d", filters},
    {"aten::conv2d", filters},
    {"aten::conv3d", filters},
    {"aten::conv_transpose1d", filters},
    {"aten::conv_transpose2d", filters},
    {"aten::conv_transpose3d", filters},
    {"aten::_convolution", filters},
    {"aten::convolution", filters},
    {"aten::dot", matrices},
    {"aten::einsum", all_pairs},
    {"aten::_grouped_mm", matrices},
    {"aten::linalg_solve_triangular", matrices},
    {"aten::linear", matrices},
    {"aten::matmul", matrices},
    {"aten::mm", matrices},
    {"aten::mv", matrices},
    {"aten::scaled_dot_product_attention", attention},
    {"aten::gru", recurrence},
    {"aten::lstm", recurrence},
    {"aten::rnn_relu", recurrence},
    {"aten::rnn_tanh", recurrence},
    {"aten::gru_cell", recurrence},
    {"aten::lstm_cell", recurrence},
    {"aten::rnn_relu_cell", recurrence},
    {"aten::rnn_tanh_cell", recurrence},
    {"aten::avg_pool1d", windows},
    {"aten::avg_pool2d", windows},
    {"aten::avg_pool3d", windows},
    {"aten::max_pool1d", windows},
    {"aten::max_pool2d", windows},
    {"aten::max_pool3d", windows},
    {"aten::max_pool1d_with_indices", windows},
    {"aten::max_pool2d_with_indices", windows},
    {"aten::upsample_bicubic2d", kElements, check_scales},
    {"aten::upsample_bilinear2d", kElements, check_scales},
    {"aten::upsample_linear1d", kElements, check_scales},
    {"aten::upsample_nearest1d", kElements, check_scales},
    {"aten::upsample_nearest2d", kElements, check_scales},
    {"aten::upsample_nearest3d", kElements, check_scales},
    {"aten::upsample_trilinear3d", kElements, check_scales},
};

const std::unordered_map<std::string_view, RealOperator>& by_name() {
  static const auto* const map = [] {
    auto* m = new std::unordered_map<std::string_view, RealOperator>();
    for (const auto name : kPlain) m->emplace(name, RealOperator{name});
    for (const auto& op : kSpecial) m->emplace(op.name, op);
    return m;
  }();
  return *map;
}

}  // namespace

const RealOperator* real_operator(const OperatorInfo& info) {
  if (info.overload.find("out") != std::string::npos) return nullptr;
  std::string_view name = info.name;
  auto it = by_name().find(name);
  if (it == by_name().end() && name.ends_with('_')) {
    name.remove_suffix(1);
    it = by_name().find(name);
  }
  return it == by_name().end() ? nullptr : &it->second;
}

double RealOperator::work_of(const OperatorInfo& info, const Stack& args,
                             const Stack& results) const {
  return work ? work(info, args, results) : elements(info, args, results);
}

}  // namespace tmeter::torch_backend
