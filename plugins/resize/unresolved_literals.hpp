// Numbers of a program that might follow from sizes and were left as the file has them.
#pragma once
#include <map>
#include <string>

#include "conv_pool_padding.hpp"

namespace tmeter::resize {

/// How many there are, by operator: plain numbers in arguments that hold sizes, equal to a recorded
/// size of the operator's tensors (or of an input) that is another one now, and pads of changed
/// dims. Not those that were replaced, nor those that modules of torch.nn were made with.
std::map<std::string, size_t> unresolved_literals(const Graph& recorded, const Known& known,
                                           const ConvPoolPadding& padding);

}  // namespace tmeter::resize
