// Captures the output of LibTorch and the model's own code: warnings become lines for -v, print()
// writes nothing.
#pragma once
#include <set>
#include <string>

#include "operators/libtorch.hpp"
#include "operators/messages.hpp"

namespace tmeter::torch_backend {

/// While it lives, LibTorch writes nothing to stdout or stderr from this thread.
class Warnings final : private c10::WarningHandler {
 public:
  explicit Warnings(const Call& call) : call_(call), guard_(this) {
    torch::jit::setPrintHandler([](const std::string&) {});
  }

 private:
  static constexpr size_t kMaxWarnings = 50;

  void process(const c10::Warning& warning) override {
    const auto text = short_reason(warning.msg());
    if (reported_.size() < kMaxWarnings && reported_.insert(text).second)
      call_.info("LibTorch: " + text);
  }

  const Call& call_;
  std::set<std::string> reported_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace tmeter::torch_backend
