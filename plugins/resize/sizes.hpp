// The meaning of sizes written into a program, for inputs of other sizes than recorded.
//
// An exported program with fixed sizes has view(x, [197, 12, 64]) where its author wrote
// x.view(tokens, batch * heads, width). For another batch the literal must follow. The recorded
// shapes determine how: the dims of operand and result are divided into groups of equal products,
// and a group without a change keeps its sizes. This file does not depend on LibTorch.
#pragma once
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace tmeter::resize {

using Sizes = std::vector<int64_t>;

/// The dims of a tensor: recorded, and for the wanted inputs.
struct DimsChange {
  Sizes recorded, now;
  bool any() const { return recorded != now; }
};

/// A size: recorded, and wanted.
using SizeChange = std::pair<int64_t, int64_t>;
using SizeChanges = std::set<SizeChange>;
/// Whole shapes: recorded, and now.
using ShapeChanges = std::set<std::pair<Sizes, Sizes>>;

/// The shapes that a reshape of `operand`, recorded with the result `result`, may have now. Shapes
/// in which every recorded element stays at its index come first. Empty if no shape fits.
std::vector<Sizes> reshaped(const DimsChange& operand, const Sizes& result);

/// `operand` with the samples split off dims that combine them with another size, as in
/// [batch * heads, …].
DimsChange with_samples_apart(const DimsChange& operand, const SizeChange& samples);

/// Whether every changed size is among the known changes.
bool explained(const Sizes& recorded, const Sizes& now, const SizeChanges& changes);

/// `sizes` unchanged, then with sizes that equal a recorded input size replaced by the wanted one:
/// fewer replacements first, from the left. Sizes that are not `literal` stay.
std::vector<Sizes> substituted(const Sizes& sizes, const std::vector<bool>& literal,
                               const SizeChanges& changes);

}  // namespace tmeter::resize
