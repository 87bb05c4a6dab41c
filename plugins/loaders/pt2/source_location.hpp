// The line of the user's code behind a node, from the stack trace torch.export leaves there.
// Needs no host.
#pragma once
#include <string>
#include <string_view>

namespace pt2 {

/// "resnet.py:285": the last frame outside PyTorch itself; the last of all when there is no other;
/// "" when the trace names none.
std::string source_location(std::string_view stack_trace);
/// " at resnet.py:285", or nothing.
std::string at_line(std::string_view stack_trace);

}  // namespace pt2
