// Finds the line that states the cause in LibTorch's errors, which are pages of stack traces.
#pragma once
#include <exception>
#include <string>
#include <string_view>

namespace tmeter::torch_backend {

/// "expected input[1, 4, 224, 224] to have 3 channels …": one sentence, at most 300 characters.
std::string short_reason(std::string_view text);
std::string short_reason(const std::exception& error);

/// Rethrows the current exception. LibTorch's become TMETER_BAD_MODEL that names `record`.
[[noreturn]] void rethrow_as_bad_model(std::string_view record);

/// Runs a step of loading and translates its exceptions.

template <class F>
auto while_reading(std::string_view record, F&& step) {
  try {
    return step();
  } catch (...) {
    rethrow_as_bad_model(record);
  }
}

}  // namespace tmeter::torch_backend
