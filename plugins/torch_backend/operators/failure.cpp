#include "operators/failure.hpp"

#include <algorithm>
#include <optional>

namespace tmeter::torch_backend {
namespace {

const c10::IValue* argument(const Failure& f, std::string_view name) {
  const auto it = std::find(f.arg_names.begin(), f.arg_names.end(), name);
  const auto i = static_cast<size_t>(it - f.arg_names.begin());
  return i < f.args.size() ? &f.args[i] : nullptr;
}

std::optional<at::Tensor> tensor(const Failure& f, std::string_view name) {
  const auto* value = argument(f, name);
  return value && value->isTensor() && value->toTensor().defined()
             ? std::optional(value->toTensor())
             : std::nullopt;
}

/// "layer1.0.conv1 (aten::conv2d)"
std::string place(const Failure& f) {
  if (f.op.empty()) return "the model stops";
  return f.module.empty() ? f.op : f.module + " (" + f.op + ")";
}

/// The most common misfit in words: the number of channels or features. Empty for any other.
std::string size_misfit(const Failure& f) {
  const auto x = tensor(f, "input"), w = tensor(f, "weight");
  if (!x || !w || w->dim() < 2) return {};
  const bool linear = f.op == "aten::linear";
  const bool convolution =
      f.op.find("conv") != std::string::npos && f.op.find("transpose") == std::string::npos;
  const auto* groups = argument(f, "groups");
  const int64_t expected =
      w->size(1) * (convolution && groups && groups->isInt() ? groups->toInt() : 1);
  if (!(linear || convolution) || x->dim() < (linear ? 1 : w->dim() - 1)) return {};
  const int64_t got = linear ? x->size(-1) : x->size(x->dim() - w->dim() + 1);
  if (got == expected) return {};
  return "expects " + std::to_string(expected) + (linear ? " input features" : " input channels") +
         ", got " + std::to_string(got);
}

}  // namespace

Misfit misfit(const Failure& f) {
  const auto sizes = size_misfit(f);
  return {place(f) + (sizes.empty() ? ": " + f.reason : " " + sizes), !sizes.empty()};
}

std::string undecided_text(const Failure& f) { return place(f) + " " + f.reason; }

}  // namespace tmeter::torch_backend
