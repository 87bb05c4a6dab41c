// `--sweep SYMBOL=VALUES`: 1,8,64 or 1..8 or 128..1024:128, and mixtures of them.
#pragma once
#include <string>

#include "core/symbolic/sweep.hpp"

namespace tmeter::app {

/// Throws core::Error(kUsage) saying which part is wrong.
core::SweepAxis parse_sweep_spec(const std::string& text);

}  // namespace tmeter::app
