// Fits polynomials to a function that can only be evaluated (here: the cost of a model at given
// sizes).
//
// Few points determine a polynomial. Further points over the whole range of the sizes, the ends
// included, verify it. A function that fails there (a floor division, a maximum, a degree above 4)
// has no formula.
#pragma once
#include <functional>
#include <vector>

#include "core/symbolic/polynomial.hpp"

namespace tmeter::core {

inline constexpr int kMaxDegree = 4;
inline constexpr size_t kMaxSizes = 3;
inline constexpr int64_t kMaxUnboundedSize = int64_t{1}
                                             << 20;  // largest checked size of an unbounded range

/// The range of a size, and a value for which the function is known to be defined.
struct SizeRange {
  int64_t min = 0, max = INT64_MAX, value = 0;
};

struct Fittable {
  using Point = std::span<const int64_t>;
  /// One entry per series; nothing: the series has no integer there.
  using Values = std::vector<std::optional<int64_t>>;

  size_t series = 0;
  /// Whether the function is defined there. Called often, before `evaluate`.
  std::function<bool(Point)> possible;
  /// Empty if it is not defined there after all.
  std::function<std::optional<Values>(Point)> evaluate;
};

/// One entry per series.
std::vector<std::optional<Polynomial>> fit_polynomials(const std::vector<SizeRange>& sizes,
                                                       const Fittable& function);

// Fits a maximum of polynomials, such as a peak whose place moves as sizes grow.
//
// A piece is fitted beside the present sizes and beside each end of the ranges where no earlier
// piece has the function's value. Each piece is a lower bound. Their maximum is the function's
// value at these sizes; between them it may be higher, because a further piece may be the
// maximum in a window there.

inline constexpr size_t kMaxPieces = 6;

struct Pieces {
  std::vector<Polynomial> list;  // at most kMaxPieces, each the maximum somewhere
  bool whole = false;            // their maximum equals the function wherever it was evaluated
};

/// The pieces of `function`, which has one series. None if the function is no such maximum.
Pieces fit_pieces(const std::vector<SizeRange>& sizes, const Fittable& function);

}  // namespace tmeter::core
