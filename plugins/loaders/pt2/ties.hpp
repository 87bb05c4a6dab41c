// Ties in files that do not store tensors by memory (weightless ones, and torch 2.8 and older).
//
// torch.export gives the graph one of the names of a tied tensor and leaves the others unused: with
// `head.weight = wte.weight`, the embedding of module `wte` reads `head.weight`, and `wte.weight`
// is read by nobody. So: a module that reads a tensor of another module while it owns an unread one
// of the same type and sizes is taken to have the two tied.
#pragma once
#include "tensors.hpp"

namespace pt2 {

/// Gives tied tensors a common storage key. Unread parameters that may be tied but show no trace of
/// it are named in a warning: they are counted.
/// `keys` owns the texts of the new keys.
void find_ties(Tensors& tensors, const std::vector<NodeView>& nodes, const Modules& modules,
               Notes& notes, std::deque<std::string>& keys);

}  // namespace pt2
