// Literals of a program that may follow from changed sizes but were not replaced.
#pragma once
#include <map>
#include <string>

#include "conv_pool_padding.hpp"

namespace tmeter::resize {

/// Counts them by operator: plain numbers in size arguments that equal a recorded size which has
/// changed, of the operator's tensors or of an input; and pads of changed dims. Literals that were
/// replaced do not count, nor do those that modules of torch.nn were constructed with.
std::map<std::string, size_t> unresolved_literals(const Graph& recorded, const Known& known,
                                                  const ConvPoolPadding& padding);

}  // namespace tmeter::resize
