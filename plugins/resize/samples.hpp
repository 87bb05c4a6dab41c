// Checks the reading of sizes if only the number of samples changes.
//
// A network treats the samples of a batch alike and never mixes them. So no operator may contract,
// normalise, pool, attend or select along a changed dim. If one does, a literal size was read
// wrongly.
#pragma once
#include <functional>

#include "operators/arguments.hpp"
#include "replayed_sizes.hpp"

namespace tmeter::resize {

/// The change of the first dim, if every changed input has this change and no other.
std::optional<SizeChange> change_of_samples(const std::vector<DimsChange>& inputs);

/// Throws std::runtime_error if the node works across changed dims.
void check_samples_stay_apart(const Node& node, const ReplayedSizes& base, const Environment& now);

/// Throws std::runtime_error if a product pairs a tensor with the new batch size and one that a
/// literal fixes at the recorded size: that literal should have followed the input.
void check_equal_samples(const Node& node, const ReplayedSizes& base, const Environment& now,
                         const std::function<bool(const Value&)>& depends_on_literal);

}  // namespace tmeter::resize
