// What an executor tells of one run, held against the contract (sdk abi/executor.h): what does not
// hold is the executor's failure, not that of the observers who would work with it.
#pragma once
#include <tmeter/abi/observer.h>

#include <cstdint>
#include <string>

namespace tmeter::core {

class ToldRun {
 public:
  /// Throws Error(kPlugin) when the event cannot follow what was told before, or cannot be at all.
  void check(const tmeter_event& event);
  /// Of a run that has returned without an error: what was not told; empty when nothing.
  std::string lacks() const;

 private:
  void check_order(int32_t kind);
  void check_memory(const tmeter_event& event);

  bool begun_ = false, ended_ = false;
  int64_t moved_ = 0;  // bytes allocated and freed, together
};

}  // namespace tmeter::core
