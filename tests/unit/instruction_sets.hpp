// Iterates over the instruction sets that kernels are compiled for and this machine supports.
#pragma once
#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace instruction_sets {

/// Calls f() under each, then restores the machine's best.
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
