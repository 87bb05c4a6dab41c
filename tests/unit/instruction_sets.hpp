// Every set of instructions that kernels are compiled for and this machine has, one after the
// other.
#pragma once
#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace instruction_sets {

/// f() under each. Ends with the machine's best, as without a test.
template <class F>
void each(F f) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    f();
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace instruction_sets
