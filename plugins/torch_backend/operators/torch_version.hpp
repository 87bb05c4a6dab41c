// Which LibTorch tmeter was built with, and whether the process has the same one.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace tmeter::torch_backend {

/// Throws TMETER_CANNOT_RUN when the process has a LibTorch of another minor version: its objects
/// have other layouts. Versions before 2.8 do not report theirs; most of them lack symbols, so a
/// plugin is not opened with them at all.
void require_built_torch();

/// Warns in the report when tmeter's tests were not run with this version of LibTorch.
void note_untried_version(const Call& call);

}  // namespace tmeter::torch_backend
