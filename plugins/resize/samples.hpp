// The proof for sizes that could be read in two ways, when only the number of samples changes.
//
// A network treats the samples of a batch alike and never mixes them. So after literal sizes have
// been replaced, no operator may contract, normalise, pool, attend or select along a dim that has
// changed: if it does, the batch was taken for something else.
#pragma once
#include <functional>

#include "operators/arguments.hpp"
#include "known.hpp"

namespace tmeter::resize {

/// The same change of the first dim of every input that changes; none else.
std::optional<SizeChange> change_of_samples(const std::vector<DimsChange>& inputs);

/// Throws std::runtime_error when the node works across dims that have changed.
void check_samples_stay_apart(const Node& node, const Known& base, const Environment& now);

/// Throws when a product pairs one tensor that has all the samples with one that has the recorded
/// number, which the program made itself: a literal size there should have followed the input.
void check_equal_samples(const Node& node, const Known& base, const Environment& now,
                         const std::function<bool(const Value&)>& depends_on_literal);

}  // namespace tmeter::resize
