// LibTorch's warnings, and those that a model gives (warnings.warn): one line each, for -v.
#pragma once
#include <set>
#include <string>

#include "operators/libtorch.hpp"
#include "operators/messages.hpp"

namespace tmeter::torch_backend {

/// While it lives, nothing of LibTorch writes to stderr by itself from this thread.
class Warnings final : private c10::WarningHandler {
 public:
  explicit Warnings(const Call& call) : call_(call), guard_(this) {}

 private:
  static constexpr size_t kMost = 50;

  void process(const c10::Warning& warning) override {
    const auto text = short_reason(warning.msg());
    if (told_.size() < kMost && told_.insert(text).second) call_.info("LibTorch: " + text);
  }

  const Call& call_;
  std::set<std::string> told_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace tmeter::torch_backend
