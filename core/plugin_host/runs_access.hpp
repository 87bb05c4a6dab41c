// The functions behind the calls of observers and executors (sdk abi/observer.h and
// executor.h); core/execution implements it.
#pragma once
#include <tmeter/abi/executor.h>

#include <string_view>

namespace tmeter::core {

struct Tensor;

/// Throws Error(kPlugin) when this kind of call does not allow it.
class RunsAccess {
 public:
  virtual ~RunsAccess() = default;
  // For observers.
  virtual void want(int32_t run, int32_t threads, int32_t rounds) = 0;
  virtual void want_samples(uint64_t interval) = 0;
  virtual std::string_view fact(std::string_view key) const = 0;
  virtual std::string_view stopped() const = 0;
  // For executors.
  virtual void event(const tmeter_event& event) = 0;
  virtual void report_fact(std::string_view key, std::string_view text) = 0;
  /// Empty if no file has the elements.
  virtual std::string_view weights(const Tensor* tensor) const = 0;
};

}  // namespace tmeter::core
