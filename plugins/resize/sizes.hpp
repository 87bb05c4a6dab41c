// What sizes written into a program stand for, once its inputs have other sizes than recorded.
//
// An exported program with fixed sizes says view(x, [197, 12, 64]) where its author wrote
// x.view(tokens, batch * heads, width). For another batch the literal must follow, and the recorded
// shapes tell how: the operand's dims and the result's are cut into groups of equal products, and a
// group without a change keeps its sizes. No LibTorch in here.
#pragma once
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace tmeter::resize {

using Sizes = std::vector<int64_t>;

/// The dims of one tensor as the file has them and for the other inputs.
struct DimsChange {
  Sizes recorded, now;
  bool any() const { return recorded != now; }
};

/// A size of an input: as recorded, and as wanted.
using SizeChange = std::pair<int64_t, int64_t>;
using SizeChanges = std::set<SizeChange>;
/// Whole shapes: as recorded, and now.
using ShapeChanges = std::set<std::pair<Sizes, Sizes>>;

/// Shapes that a reshape of `operand`, recorded with the result `result`, may now have; the
/// likeliest first: those where every element that was there before stays at its index. Empty when
/// none fits.
std::vector<Sizes> reshaped(const DimsChange& operand, const Sizes& result);

/// `operand` with the samples split off dims that hold them and something else, as in
/// [batch * heads, …]; the same when there is none.
DimsChange with_samples_apart(const DimsChange& operand, const SizeChange& samples);

/// Whether every size that differs is one that is known to change like that.
bool explained(const Sizes& recorded, const Sizes& now, const SizeChanges& known);

/// `sizes` as they are, then with those that equal a recorded input size replaced by the wanted
/// one: as few as possible, from the left. Sizes below `literal` false are left alone.
std::vector<Sizes> substituted(const Sizes& sizes, const std::vector<bool>& literal,
                               const SizeChanges& changes);

}  // namespace tmeter::resize
