// The last resort for an operator without a meta kernel: it runs on placeholder tensors.
//
// FakeTensorMode's fallback kernels in Python do the same. Placeholders hold ones (floats) and
// zeros (integers: valid indices), so the shapes of the results must not depend on values. As
// numbers among the arguments come from the file, the operator must also be one that may run on
// values (real_operators.hpp).
#include <algorithm>

#include "operators/evaluator.hpp"
#include "operators/missing_operators.hpp"
#include "operators/operator_info.hpp"
#include "operators/real_operators.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Stack;

/// All placeholders together: 256 MB of float32. A file can declare tensors of any size.
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

  /// The meta tensor for a result; the original argument if the operator returned its placeholder.
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
  const auto* listed = real_operator(info);
  if (info.data_dependent || (!listed && !is_of_operator_library(info.name))) return false;
  Placeholders placeholders;
  Stack call;
  for (const auto& a : args) {
    call.push_back(map_tensors(a, [&](const at::Tensor& t) { return placeholders.make(t); }));
  }
  if (placeholders.too_large() || !plain_tensors(call)) return false;
  if (listed && listed->check) listed->check(info, call);
  for (size_t i = 0; i < call.size(); ++i) {
    if (info.args[i].kind == ArgKind::kDevice && call[i].isDevice()) call[i] = at::Device(at::kCPU);
  }
  try {
    op.callBoxed(call);
  } catch (const std::exception&) {
    return false;  // the error for the missing kernel is clearer
  }
  for (auto& result : call) {
    result = map_tensors(result, [&](const at::Tensor& t) { return placeholders.meta_of(t); });
  }
  args = std::move(call);
  return true;
}

}  // namespace tmeter::torch_backend
