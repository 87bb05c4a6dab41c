#include "operators/evaluator.hpp"

#include <algorithm>
#include <iterator>

#include "operators/limits.hpp"
#include "operators/missing_operators.hpp"
#include "operators/operator_info.hpp"
#include "operators/quantized.hpp"
#include "operators/real_operators.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Stack;

/// Larger tensors become meta: values that control a program are small.
constexpr int64_t kMaxRealNumel = 1 << 18;

constexpr uint64_t kMaxParts = 100'000;  // most tensors into which one operator splits its argument
constexpr double kOperationsPerSecond = 2e10;  // upper bound for one processor

/// Throws if the operator would take more than the remaining time.
void require_time(double work) {
  auto* limits = Limits::current();
  if (!limits) return;
  if (work > std::max(limits->seconds_left(), 0.0) * kOperationsPerSecond) {
    throw WorkLimitExceeded(
        "would take " + std::to_string(static_cast<int64_t>(work / 1e9)) +
        "e9 arithmetic operations, more than the time limit allows (raise it with " +
        limits->option("timeout") + "=N)");
  }
  limits->spend(static_cast<uint64_t>(work / 100));
}

void require_few_parts(const OperatorInfo& info, const Stack& args) {
  const auto parts = parts_of(info, args);
  if (parts <= kMaxParts) return;
  throw WorkLimitExceeded("splits a tensor into " + std::to_string(parts) + " parts; at most " +
                          std::to_string(kMaxParts) + " are allowed");
}

at::Tensor meta_of(const at::Tensor& t) {
  if (t.is_meta()) return t;
  auto out = at::empty_strided(t.sizes(), t.strides(), t.options().device(at::kMeta));
  if (t.unsafeGetTensorImpl()->is_wrapped_number()) {
    out.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return out;
}

struct Census {
  bool meta = false, real_scalar = false;
};

Census census(const Stack& args) {
  Census c;
  for (const auto& a : args) {
    for_each_tensor(a, [&](const at::Tensor& t) {
      c.meta = c.meta || t.is_meta();
      c.real_scalar = c.real_scalar || (!t.is_meta() && t.dim() == 0);
    });
  }
  return c;
}

/// Sets the devices of a call. An operator that takes tensors and names no device runs on theirs; a
/// factory needs a device.
void set_devices(const OperatorInfo& info, Stack& args, at::Device device) {
  bool follows = false;
  for (const auto& a : args) for_each_tensor(a, [&](const at::Tensor&) { follows = true; });
  for (size_t i = 0; i < args.size(); ++i) {
    if (info.args[i].kind != ArgKind::kDevice) continue;
    if (args[i].isDevice() || !follows) args[i] = device;
  }
}

/// Arguments that stay real although the others become meta: known masks and counts give exact
/// sizes, and LibTorch accepts CPU indices on every device.
bool keeps_values(std::string_view op, std::string_view arg) {
  return (arg == "indices" && (op.starts_with("aten::index") || op == "aten::_index_put_impl_")) ||
         (arg == "repeats" && op == "aten::repeat_interleave");
}

/// PyTorch combines CPU scalars with tensors on other devices, so scalars stay real. `scalars_too`
/// is for operators that refuse this.
Stack as_meta(const OperatorInfo& info, const Stack& args, bool scalars_too) {
  Stack out;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool keep = keeps_values(info.name, info.args[i].name);
    out.push_back(map_tensors(args[i], [&](const at::Tensor& t) {
      return keep || (t.dim() == 0 && !scalars_too) ? t : meta_of(t);
    }));
  }
  set_devices(info, out, at::kMeta);
  return out;
}

int64_t numel_of(const Stack& values) {
  int64_t numel = 0;
  for (const auto& v : values) {
    for_each_tensor(v, [&](const at::Tensor& t) { numel = std::max(numel, t.numel()); });
  }
  return numel;
}

/// Whether the error means a missing kernel. Newer versions use the second text for meta tensors.
bool kernel_is_missing(const c10::Error& e) {
  const std::string_view text = e.what_without_backtrace();
  return text.starts_with("Could not run '") ||
         text.find("there was no fake impl or Meta kernel registered") != std::string_view::npos;
}

/// Whether the operator uses only the shape, type or device of the argument, not its values.
bool uses_shape_only(std::string_view op, std::string_view arg) {
  return arg == "other" && (op == "aten::expand_as" || op == "aten::view_as" ||
                            op == "aten::reshape_as" || op == "aten::type_as" || op == "aten::to");
}

/// A real tensor of the same shape and type that takes the memory of one element.
at::Tensor shape_of(const at::Tensor& t) {
  return t.is_meta() ? at::zeros({1}, t.options().device(at::kCPU))
                           .as_strided(t.sizes(), std::vector<int64_t>(t.sizes().size(), 0))
                     : t;
}

/// Whether LibTorch decomposes the operator into others, which may have kernels.
bool has_composite(const c10::OperatorHandle& op) {
  using Key = c10::DispatchKey;
  return op.hasKernelForDispatchKey(Key::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(Key::CompositeExplicitAutograd) ||
         op.hasKernelForDispatchKey(Key::CompositeExplicitAutogradNonFunctional);
}

void replace_shape_arguments(const OperatorInfo& info, Stack& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (uses_shape_only(info.name, info.args[i].name)) args[i] = map_tensors(args[i], shape_of);
  }
}

}  // namespace

OperatorInfo& Evaluator::lookup(const c10::OperatorHandle& op) {
  const auto it = infos_.find(op);
  return it != infos_.end() ? it->second : infos_.emplace(op, OperatorInfo(op)).first->second;
}

bool Evaluator::is_missing(const OperatorInfo& info) const {
  return missing_ && missing_->contains(info.name);
}

void Evaluator::execute(const c10::OperatorHandle& op, Stack& stack) {
  auto& info = lookup(op);
  assumed_ = Assumption::kNone;
  const auto begin = stack.end() - static_cast<ptrdiff_t>(info.args.size());
  Stack args(std::make_move_iterator(begin), std::make_move_iterator(stack.end()));
  stack.erase(begin, stack.end());
  check_enums(info, args);
  require_few_parts(info, args);
  check_hidden_state(info, args);
  if (execute_packed(info, args)) {
    std::move(args.begin(), args.end(), std::back_inserter(stack));
    return;
  }
  if (values_) {
    execute_with_values(op, info, args);
    std::move(args.begin(), args.end(), std::back_inserter(stack));
    return;
  }
  if (!args.empty() && args[0].isTensor() && !args[0].toTensor().is_meta()) {
    replace_shape_arguments(info, args);
  }
  const QuantizedArguments quantized(args);
  if (is_missing(info)) {
    forget_changed(info, args);
    missing_->execute(op, info, args);
  } else if (census(args).meta || !execute_real(op, info, args))
    execute_meta(op, info, args);
  quantized.restore(info, args);
  std::move(args.begin(), args.end(), std::back_inserter(stack));
}

/// False if the results are too large to be real, the operator may not run on values, or it has no
/// kernel for real tensors.
bool Evaluator::execute_real(const c10::OperatorHandle& op, OperatorInfo& info, Stack& args) {
  const auto* listed = real_operator(info);
  if (!listed || !plain_tensors(args)) return false;
  if (!fits(op, info, args)) return false;
  if (listed->check) listed->check(info, args);
  require_time(listed->work_of(info, args, {}));
  Stack call = args;
  set_devices(info, call, at::kCPU);
  try {
    op.callBoxed(call);
  } catch (const c10::NotImplementedError& e) {
    if (kernel_is_missing(e)) return false;
    throw;
  }
  for (const auto& result : call) {
    for_each_tensor(result, [&](const at::Tensor& t) {
      if (info.uninitialised) t.zero_();  // reports must be reproducible
      if (t.has_storage()) real_[t.storage().unsafeGetStorageImpl()].push_back(t);
    });
  }
  args = std::move(call);
  return true;
}

/// Runs the operator on meta tensors to learn the size of its results.
bool Evaluator::fits(const c10::OperatorHandle& op, OperatorInfo& info, const Stack& args) {
  if (numel_of(args) > kMaxRealNumel) return false;
  if (info.returns_alias || info.data_dependent || info.no_meta_kernel) return true;
  try {
    Stack trial = as_meta(info, args, /*scalars_too=*/true);
    op.callBoxed(trial);
    return numel_of(trial) <= kMaxRealNumel;
  } catch (const std::exception&) {
    info.no_meta_kernel = true;  // or the call is wrong, which the real run reports
    return true;
  }
}

/// An operator that runs only on shapes makes the values of tensors unknown: of tensors it writes
/// into, and of tensors it returns a view of, because a later write through the view may go
/// unnoticed.
void Evaluator::forget_changed(const OperatorInfo& info, const Stack& args) {
  const bool all = info.returns_alias && !real_operator(info);
  for (size_t i = 0; i < args.size(); ++i) {
    if (all || info.args[i].written)
      for_each_tensor(args[i], [&](const at::Tensor& t) { forget(t); });
  }
}

void Evaluator::execute_meta(const c10::OperatorHandle& op, OperatorInfo& info, Stack& args) {
  forget_changed(info, args);
  if (info.name == "aten::repeat_interleave") check_repeats(info, args);
  const auto tensors = census(args);
  const bool scalars = tensors.real_scalar;
  for (const bool scalars_too : {false, true}) {
    // A call with scalars only would run the operator on their values.
    if (!scalars_too && scalars && !tensors.meta && !real_operator(info)) continue;
    try {
      Stack call = as_meta(info, args, scalars_too);
      evaluation_state().assumed = Assumption::kNone;
      op.callBoxed(call);
      assumed_ = evaluation_state().assumed;
      args = std::move(call);
      return;
    } catch (const c10::NotImplementedError& e) {
      if (!kernel_is_missing(e)) throw;
      if (execute_on_placeholders(op, info, args)) return;
      throw;
    } catch (const c10::Error&) {
      if (scalars_too || !scalars) throw;
    }
  }
}

/// The meta kernel runs first: it checks sizes that kernels rely on, and gives the amount of work.
void Evaluator::require_fit_for_values(const c10::OperatorHandle& op, const OperatorInfo& info,
                                       const Stack& args) {
  if (is_of_operator_library(info.name)) return;
  const auto* listed = real_operator(info);
  if (!listed || !plain_tensors(args)) {
    if (!op.hasKernelForDispatchKey(c10::DispatchKey::CPU) && !has_composite(op)) return;
    throw WorkLimitExceeded(
        "is not among the operators that tmeter runs with values of a file, and its control flow "
        "depends on values");
  }
  if (listed->check) listed->check(info, args);
  Stack results;
  if (!info.data_dependent) {
    try {
      results = as_meta(info, args, /*scalars_too=*/true);
      op.callBoxed(results);
    } catch (const DataDependent&) {
      results.clear();
    } catch (const c10::NotImplementedError&) {
      results.clear();
    }
  }
  require_time(listed->work_of(info, args, results));
}

/// The result of an operator without an implementation is assumed to be zeros.
void Evaluator::execute_with_values(const c10::OperatorHandle& op, OperatorInfo& info,
                                    Stack& args) {
  for (auto& a : args) {
    a = map_tensors(a, [&](const at::Tensor& t) { return values_->of(t); });
  }
  if (!is_missing(info)) {
    require_fit_for_values(op, info, args);
    Stack call = args;
    set_devices(info, call, at::kCPU);
    try {
      op.callBoxed(call);
      args = std::move(call);
      return;
    } catch (const c10::NotImplementedError& e) {
      if (!kernel_is_missing(e)) throw;
    }
    Stack shapes = as_meta(info, args, /*scalars_too=*/true);
    op.callBoxed(shapes);
    args = std::move(shapes);
  } else {
    missing_->execute(op, info, args);
  }
  assumed_ = Assumption::kZeros;
  for (auto& result : args) {
    result = map_tensors(result, [](const at::Tensor& t) {
      return t.is_meta() ? at::zeros(t.sizes(), t.options().device(at::kCPU)) : t;
    });
  }
}

/// Makes the real tensor and its views meta, because an unknown value is about to be written into
/// it.
void Evaluator::forget(const at::Tensor& tensor) {
  if (tensor.is_meta() || !tensor.has_storage()) return;
  auto& aliases = real_[tensor.storage().unsafeGetStorageImpl()];
  aliases.push_back(tensor);
  const auto elements = static_cast<int64_t>(tensor.storage().nbytes() / tensor.itemsize());
  const auto base = at::empty({elements}, tensor.options().device(at::kMeta));
  const auto tensors = std::move(aliases);
  for (const auto& t : tensors) {
    if (t.is_meta()) continue;
    const auto meta = t.scalar_type() == base.scalar_type()
                          ? base.as_strided(t.sizes(), t.strides(), t.storage_offset())
                          : meta_of(t);
    t.unsafeGetTensorImpl()->shallow_copy_from(meta.getIntrusivePtr());
  }
}

}  // namespace tmeter::torch_backend
