// The last resort for an operator without a meta kernel: run it for real on placeholder tensors.
//
// The same idea as FakeTensorMode's fallback kernels in Python. Placeholders hold ones (floats) and
// zeros (integers: valid as indices), so only operators whose result shapes do not depend on values
// may be run this way, and of them only those that may meet a file's values (real_operators.hpp):
// numbers among the arguments are the file's.
#include <algorithm>

#include "operators/operator_libraries.hpp"
#include "operators/evaluator.hpp"
#include "operators/real_operators.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Stack;

/// Together below 256 MB of float32; real tensors in their place could be of any size.
constexpr int64_t kMaxNumel = 1 << 26;

class Placeholders {
 public:
  at::Tensor make(const at::Tensor& t) {
    if (!t.is_meta()) return t;
    numel_ += t.numel();
    if (numel_ > kMaxNumel) return t;
    const bool is_float = at::isFloatingType(t.scalar_type()) || at::isComplexType(t.scalar_type());
    const auto options = t.options().device(at::kCPU);
    auto placeholder = is_float ? at::ones(t.sizes(), options) : at::zeros(t.sizes(), options);
    made_.emplace_back(placeholder, t);
    return placeholder;
  }

  bool too_large() const { return numel_ > kMaxNumel; }

  /// The meta tensor a result stands for: the argument itself when the operator returned it.
  at::Tensor meta_of(const at::Tensor& result) const {
    for (const auto& [placeholder, original] : made_) {
      if (!result.is_same(placeholder)) continue;
      if (original.sizes() != result.sizes()) original.resize_(result.sizes());
      return original;
    }
    return at::empty_strided(result.sizes(), result.strides(), result.options().device(at::kMeta));
  }

 private:
  int64_t numel_ = 0;
  std::vector<std::pair<at::Tensor, at::Tensor>> made_;
};

}  // namespace

bool execute_on_placeholders(const c10::OperatorHandle& op, const OperatorInfo& info, Stack& args) {
  const auto* known = real_operator(info);
  if (info.data_dependent || (!known && !is_of_operator_library(info.name))) return false;
  Placeholders placeholders;
  Stack call;
  for (const auto& a : args) {
    call.push_back(map_tensors(a, [&](const at::Tensor& t) { return placeholders.make(t); }));
  }
  if (placeholders.too_large() || !plain_tensors(call)) return false;
  if (known && known->check) known->check(info, call);
  for (size_t i = 0; i < call.size(); ++i) {
    if (info.args[i].kind == ArgKind::kDevice && call[i].isDevice()) call[i] = at::Device(at::kCPU);
  }
  try {
    op.callBoxed(call);
  } catch (const std::exception&) {
    return false;  // the missing kernel is the better message
  }
  for (auto& result : call) {
    result = map_tensors(result, [&](const at::Tensor& t) { return placeholders.meta_of(t); });
  }
  args = std::move(call);
  return true;
}

}  // namespace tmeter::torch_backend
