#include "script/primitives.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "script/checks.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Operator;
using torch::jit::Stack;

struct Guard {
  std::string_view op;
  Check check;
  std::string_view overloads = {};  // that the check is for: those that begin so; empty: all
};

constexpr Guard kGuards[] = {
    {"aten::floordiv", check_division},
    {"aten::remainder", check_division},
    {"aten::fmod", check_division},
    {"aten::divmod", check_division},
    {"aten::mathremainder", check_division},
    {"aten::__round_to_zero_floordiv", check_division},
    {"aten::gcd", check_division},
    {"aten::factorial", check_factorial},
    {"aten::add", check_text_sum, "str"},
    {"aten::add", check_list_sum, "t"},
    {"aten::add_", check_list_sum, "t"},
    {"aten::extend", check_list_sum},
    {"aten::mul", check_list_product, "left_t"},
    {"aten::mul", check_list_product, "right_"},
    {"aten::mul_", check_list_product, "t"},
    {"aten::append", check_one_more},
    {"aten::insert", check_one_more},
    {"aten::join", check_join},
    {"aten::replace", check_replace},
    {"aten::count", check_needle},
    {"aten::split", check_needle, "str"},
    {"aten::rsplit", check_needle},
    {"aten::partition", check_needle},
    {"aten::rpartition", check_needle},
    {"aten::center", check_width},
    {"aten::ljust", check_width},
    {"aten::rjust", check_width},
    {"aten::zfill", check_width},
    {"aten::expandtabs", check_tabs},
    {"aten::str", check_printed},
    {"aten::format", check_printed},
    {"aten::percentFormat", check_printed},
    {"aten::warn", check_printed},
    {"prim::Print", check_printed},
    {"prim::rangelist", check_range},
    {"aten::tensor", check_tensor_of},
    {"aten::as_tensor", check_tensor_of},
    {"aten::_list_to_tensor", check_tensor_of},
};

/// Constant time, or linear in operands that others have bounded; no operand makes them trap. Those
/// that take tensors call operators, which are looked at as such.
constexpr std::string_view kHarmless[] = {
    // Numbers
    "aten::Bool", "aten::Complex", "aten::ComplexImplicit", "aten::Float", "aten::FloatImplicit",
    "aten::Int", "aten::IntImplicit", "aten::ScalarImplicit", "aten::__and__",
    "aten::__derive_index", "aten::__lshift__", "aten::__not__", "aten::__or__",
    "aten::__range_length", "aten::__rshift__", "aten::__xor__", "aten::acos", "aten::acosh",
    "aten::angle", "aten::asin", "aten::asinh", "aten::atan", "aten::atan2", "aten::atanh",
    "aten::bin", "aten::ceil", "aten::chr", "aten::copysign", "aten::cos", "aten::cosh",
    "aten::degrees", "aten::div", "aten::eq", "aten::erf", "aten::erfc", "aten::exp", "aten::expm1",
    "aten::fabs", "aten::floor", "aten::frexp", "aten::gamma", "aten::ge", "aten::gt", "aten::hash",
    "aten::hex", "aten::isfinite", "aten::isinf", "aten::isnan", "aten::ldexp", "aten::le",
    "aten::lgamma", "aten::log", "aten::log10", "aten::log1p", "aten::lt", "aten::modf", "aten::ne",
    "aten::neg", "aten::oct", "aten::ord", "aten::polar", "aten::pow", "aten::radians",
    "aten::round", "aten::sin", "aten::sinh", "aten::sqrt", "aten::sub", "aten::tan", "aten::tanh",
    "prim::abs", "prim::max", "prim::min",
    // Texts
    "aten::capitalize", "aten::endswith", "aten::find", "aten::isalnum", "aten::isalpha",
    "aten::isdecimal", "aten::isdigit", "aten::isidentifier", "aten::islower", "aten::isnumeric",
    "aten::isprintable", "aten::isspace", "aten::istitle", "aten::isupper", "aten::lower",
    "aten::lstrip", "aten::rfind", "aten::rindex", "aten::rstrip", "aten::splitlines",
    "aten::startswith", "aten::strip", "aten::swapcase", "aten::title", "aten::upper",
    "prim::StringIndex",
    // Lists and dicts
    "aten::Delete", "aten::__contains__", "aten::__getitem__", "aten::_set_item", "aten::all",
    "aten::any", "aten::clear", "aten::copy", "aten::dict", "aten::get", "aten::index",
    "aten::items", "aten::keys", "aten::len", "aten::list", "aten::pop", "aten::popitem",
    "aten::remove", "aten::reverse", "aten::select", "aten::setdefault", "aten::slice",
    "aten::sort", "aten::sorted", "aten::sum", "aten::update", "aten::values", "prim::TupleIndex",
    "prim::TupleUnpack", "prim::ModuleContainerIndex", "prim::tolist", "prim::index",
    // What the compiler puts in
    "aten::__is__", "aten::__isnot__", "aten::_unwrap_optional", "aten::has_torch_function",
    "aten::is_scripting", "aten::_get_tracing_state", "aten::_is_tracing", "aten::is_grad_enabled",
    "aten::set_grad_enabled", "aten::is_autocast_cpu_enabled", "aten::is_autocast_enabled",
    "aten::get_autocast_dtype", "aten::wait", "prim::awaitable_nowait", "prim::awaitable_wait",
    "prim::EnumName", "prim::EnumValue", "prim::IfThenElse", "prim::NumToTensor",
    "prim::RaiseException", "prim::Uninitialized", "prim::id", "prim::unchecked_cast",
    "prim::unchecked_unwrap_optional", "prim::TimePoint", "aten::manual_seed", "aten::seed",
    "aten::initial_seed", "aten::Generator",
    // Shapes and types of tensors
    "aten::Size", "aten::size", "aten::stride", "aten::sym_size", "aten::sym_stride",
    "aten::_infer_size", "aten::_size_if_not_equal", "aten::broadcast_shapes", "aten::device",
    "aten::element_size", "aten::is_non_overlapping_and_dense", "aten::is_strides_like_format",
    "prim::data", "prim::device", "prim::dtype", "prim::is_cpu", "prim::is_cuda", "prim::is_ipu",
    "prim::is_maia", "prim::is_meta", "prim::is_mkldnn", "prim::is_mps", "prim::is_mtia",
    "prim::is_nested", "prim::is_quantized", "prim::is_sparse", "prim::is_sparse_csr",
    "prim::is_vulkan", "prim::is_xla", "prim::is_xpu", "prim::itemsize", "prim::layout",
    "prim::name", "prim::nbytes", "prim::requires_grad", "prim::type", "prim::BroadcastSizes",
    "prim::ReductionSizes",
    // Other names for tensor operators
    "aten::__interpolate", "aten::__upsample", "aten::__upsample_bilinear",
    "aten::__upsample_nearest", "aten::_no_grad_embedding_renorm_", "aten::_no_grad_fill_",
    "aten::_no_grad_normal_", "aten::_no_grad_uniform_", "aten::_no_grad_zero_",
    "aten::_pack_sequence", "aten::_index_put_impl_", "aten::_ncf_unsqueeze", "aten::_ncf_view",
    "aten::_unsafe_index", "aten::_unsafe_index_put", "aten::copy_", "aten::cpu", "aten::cuda",
    "aten::dequantize", "aten::einsum", "aten::index_put", "aten::index_put_", "aten::mH",
    "aten::mT", "aten::matrix_H", "aten::numpy_T", "aten::to"};

bool& trusts() {
  thread_local bool trusted = false;
  return trusted;
}

bool harmless(std::string_view op) {
  return std::find(std::begin(kHarmless), std::end(kHarmless), op) != std::end(kHarmless);
}

bool guarded(std::string_view op) {
  return std::any_of(std::begin(kGuards), std::end(kGuards),
                     [&](const Guard& g) { return g.op == op; });
}

Check check_for(const c10::FunctionSchema& schema) {
  for (const auto& g : kGuards) {
    if (g.op == schema.name() && (g.overloads.empty() || schema.overload_name() == g.overloads)) {
      return g.check;
    }
  }
  return nullptr;
}

/// The operands on top of the stack; a variable number of them has its count above.
Operands operands_of(const Stack& stack, const c10::FunctionSchema& schema) {
  size_t count = schema.arguments().size(), above = 0;
  if (schema.is_vararg()) {
    above = 1;
    count = static_cast<size_t>(stack.back().toInt());
  }
  return Operands(stack.data() + (stack.size() - above - count), count);
}

torch::jit::Operation checked(const Operator& op, Check check) {
  // The schema is copied: the operator it belongs to leaves the registry.
  return [inner = op.getOperation(), schema = op.schema(), check](Stack& stack) mutable {
    check(operands_of(stack, schema));
    inner(stack);
  };
}

torch::jit::Operation refusing(const Operator& op) {
  return [inner = op.getOperation(), name = op.schema().name()](Stack& stack) mutable {
    if (trusts()) return inner(stack);
    throw std::runtime_error("the operator " + name +
                             " is not among those that tmeter runs with what a file says");
  };
}

/// The operator as it is from now on; nothing when it stays as it is.
std::optional<Operator> replacement(const Operator& op) {
  if (op.isC10Op() || !op.hasOperation()) return std::nullopt;
  const auto& schema = op.schema();
  const auto check = check_for(schema);
  if (!check && reviewed_primitive(schema.name())) return std::nullopt;
  auto operation = check ? checked(op, check) : refusing(op);
  if (schema.is_vararg()) {  // no constructor takes those but the one from text
    return Operator(c10::toString(schema), std::move(operation), schema.aliasAnalysis());
  }
  return Operator(schema.name(), schema.overload_name(), schema.arguments(), schema.returns(),
                  std::move(operation), schema.aliasAnalysis());
}

/// All overloads are entered anew, so that they stay in the order in which LibTorch tries them.
void replace_overloads(const std::vector<std::shared_ptr<Operator>>& overloads) {
  std::vector<Operator> now;
  for (const auto& op : overloads) {
    auto changed = replacement(*op);
    now.push_back(changed ? std::move(*changed) : *op);
  }
  for (const auto& op : overloads) torch::jit::deregisterOperator(op->schema());
  for (auto& op : now) torch::jit::registerOperator(std::move(op));
}

void guard(const std::string& name) {
  // LibTorch's own code may point at the operators as they were: they live on.
  static auto* const before = new std::list<std::vector<std::shared_ptr<Operator>>>();
  const auto& overloads =
      before->emplace_back(torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)));
  const bool changes = std::any_of(overloads.begin(), overloads.end(),
                                   [](const auto& op) { return replacement(*op).has_value(); });
  if (changes) replace_overloads(overloads);
}

/// Names of the operators that TorchScript alone has, not the dispatcher.
std::set<std::string> script_operators() {
  std::set<std::string> names;
  for (const auto& op : torch::jit::getAllOperators()) {
    if (!op->isC10Op()) names.insert(op->schema().name());
  }
  return names;
}

}  // namespace

bool reviewed_primitive(std::string_view op) { return guarded(op) || harmless(op); }

TrustPrimitives::TrustPrimitives(bool trusted) : before_(std::exchange(trusts(), trusted)) {}
TrustPrimitives::~TrustPrimitives() { trusts() = before_; }

void guard_primitives() {
  static const bool done = [] {
    for (const auto& name : script_operators()) {
      if (guarded(name) || !harmless(name)) guard(name);
    }
    return true;
  }();
  (void)done;
}

}  // namespace tmeter::torch_backend
