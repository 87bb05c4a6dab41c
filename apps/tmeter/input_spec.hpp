// `--input [NAME=]SHAPE[:DTYPE]`: 1x3x224x224, ids=8x128:i64, x=scalar.
#pragma once
#include <string>

#include "core/plugin_host/source.hpp"

namespace tmeter::app {

/// Throws core::Error(kUsage) saying which part is wrong.
core::InputRequest parse_input_spec(const std::string& text);

}  // namespace tmeter::app
