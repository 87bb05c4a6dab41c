// Fits a maximum of polynomials, such as a peak whose place moves as sizes grow.
//
// A piece is fitted beside the present sizes and beside each end of the ranges where no earlier
// piece has the function's value. Each piece is a lower bound. Their maximum is the function's
// value at these sizes; between them it may be higher, as a further piece may lead in a window
// there.
#pragma once
#include <vector>

#include "core/symbolic/fit.hpp"

namespace tmeter::core {

inline constexpr size_t kMaxPieces = 6;

struct Pieces {
  std::vector<Polynomial> list;  // at most kMaxPieces, each the maximum somewhere
  bool whole = false;  // their maximum equals the function wherever it was evaluated
};

/// The pieces of `function`, which has one series. None if the function is no such maximum.
Pieces fit_pieces(const std::vector<SizeRange>& sizes, const Fittable& function);

}  // namespace tmeter::core
