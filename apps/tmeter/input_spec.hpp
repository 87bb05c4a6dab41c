// `--input [NAME=]VALUE`: 1x3x224x224, ids=8x128:i64, x=scalar; images=3x800x800,3x600x800 or
// [3x800x800,3x600x800] for a list, (1x64,1x64:i64) for a tuple, one in another; flag=true,
// scale=0.5, mask=none for other values.
#pragma once
#include <string>
#include <vector>

#include "core/plugin_host/source.hpp"
#include "core/symbolic/sweep.hpp"

namespace tmeter::app {

/// One request, or a list or tuple followed by its items (abi/loader.h). Throws
/// core::Error(kUsage) naming the wrong part.
std::vector<core::InputRequest> parse_input_spec(const std::string& text);

// `--sweep SYMBOL=VALUES`: 1,8,64 or 1..8 or 128..1024:128, and mixtures of them.

/// Throws core::Error(kUsage) naming the wrong part.
core::SweepAxis parse_sweep_spec(const std::string& text);

}  // namespace tmeter::app
