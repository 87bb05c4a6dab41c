// The layout of a matrix product or a convolution: the parts of its shape that a kernel's time
// depends on besides its MACs and bytes.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/machine/profile.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace machine {

/// Empty for operators of other kinds. Unknown parts are 0.
Layout layout_of(const tmeter::Node& node, OpClass kind);

}  // namespace machine
#pragma GCC visibility pop
