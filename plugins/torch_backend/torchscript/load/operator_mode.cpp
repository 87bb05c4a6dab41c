#include "torchscript/load/operator_mode.hpp"

#include <utility>

namespace tmeter::torch_backend {
namespace {

/// "This is intended to be a generic testing tensor type mode": nothing in LibTorch uses it.
constexpr auto kMode = c10::DispatchKey::TESTING_ONLY_GenericMode;

// LibTorch's fallback is a plain function: this is the observer of its thread.
OperatorObserver*& current_observer() {
  thread_local OperatorObserver* observer = nullptr;
  return observer;
}

void intercept(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below_the_mode(kMode);
  if (auto* observer = current_observer()) return observer->on_operator(op, *stack);
  op.callBoxed(stack);
}

/// The fallback stays registered until the process ends.
void register_fallback() {
  static const auto* const library = [] {
    auto* mode = new torch::Library(torch::Library::IMPL, "_", kMode, __FILE__, __LINE__);
    mode->fallback(torch::CppFunction::makeFromBoxedFunction<&intercept>());
    return mode;
  }();
  static_cast<void>(library);
}

}  // namespace

OperatorMode::OperatorMode(OperatorObserver& observer)
    : before_(std::exchange(current_observer(), &observer)), mode_(kMode) {
  register_fallback();
}

OperatorMode::~OperatorMode() { current_observer() = before_; }

void CompilationGuard::on_operator(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  // LibTorch pools equal constants; it calls no other operator while it compiles.
  const auto& name = op.schema().name();
  TORCH_CHECK(name == "aten::equal" || name == "aten::detach", "the operator ", name,
              " would run while the file is loaded");
  op.callBoxed(stack);
}

}  // namespace tmeter::torch_backend
