// The line of user code behind a node, from the stack trace that torch.export attaches.
// Needs no host.
#pragma once
#include <string>
#include <string_view>

namespace pt2 {

/// "resnet.py:285": the last frame outside PyTorch, or else the last frame; "" for a trace without
/// frames.
std::string source_location(std::string_view stack_trace);
/// " at resnet.py:285", or nothing.
std::string at_line(std::string_view stack_trace);

}  // namespace pt2
