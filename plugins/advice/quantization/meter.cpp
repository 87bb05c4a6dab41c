#include "meter.hpp"

namespace quantization {
namespace {

/// Calls f(begin, count) for pieces that kernels take.
template <class F>
void for_each_piece(size_t n, F f) {
  for (size_t begin = 0; begin < n; begin += kPiece) f(begin, std::min(kPiece, n - begin));
}

constexpr size_t kGroupsInPiece = kPiece / kAlign;

/// What numbers and errors are divided by before they are squared, so that tiny weights keep
/// theirs.
float unit_of(const Range& r) { return std::max(r.largest(), FLT_MIN); }

}  // namespace

bool Meter::look_at(const float* x, size_t n) {
  x_ = x;
  n_ = padded(n);
  lo_.resize(n_ / kAlign);
  hi_.resize(n_ / kAlign);
  const uint32_t largest = ranges(x_, n_, lo_.data(), hi_.data());
  range_ = {};
  for (size_t i = 0; i < lo_.size(); ++i) range_.take({lo_[i], hi_[i]});
  return largest < 0x7f800000u;
}

double Meter::group_error(const Scheme& s, size_t begin, size_t n) const {
  const size_t each = static_cast<size_t>(s.group), parts = each / kAlign;
  const float unit = unit_of(range_);
  std::array<IntegerGroup, kGroupsInPiece> integers;
  std::array<LevelGroup, kGroupsInPiece> levels;
  const size_t end = (begin + n) / kAlign;
  for (size_t i = begin / kAlign, g = 0; i < end; i += parts, ++g) {
    Range r;
    for (size_t k = i; k < std::min(i + parts, end); ++k) r.take({lo_[k], hi_[k]});
    if (s.grid == Grid::kInteger) {
      integers[g] = integer_grid(r, s.bits, s.symmetric, unit);
    } else {
      levels[g] = level_grid(r, s, unit);
    }
  }
  switch (s.grid) {
    case Grid::kInteger:
      return integer_error(x_ + begin, n, each, integers.data());
    case Grid::kFloat:
      return float_error(x_ + begin, n, each, levels.data(), s.format);
    default:
      return normal_error(x_ + begin, n, each, levels.data());
  }
}

void Meter::groups(Sums& into) const {
  if (range_.largest() == 0) return;
  const float unit = unit_of(range_);
  const double square = double{unit} * double{unit};
  for_each_piece(n_, [&](size_t begin, size_t n) {
    into.power += square * power(x_ + begin, n, 1.f / unit);
    for (size_t i = 0; i < kSchemeCount; ++i) {
      const auto& s = kSchemes[i];
      if (s.scope == Scope::kGroup) into.error[i] += square * group_error(s, begin, n);
      if (s.scope != Scope::kElement) continue;
      const auto cast = cast_grid(unit, s.format, unit);
      into.error[i] += square * float_error(x_ + begin, n, n, &cast.group, cast.format);
    }
  });
}

void Meter::scaled(Scope scope, const Range& range, Sums& into) const {
  if (range.largest() == 0) return;
  const float unit = unit_of(range);
  const double square = double{unit} * double{unit};
  for (size_t i = 0; i < kSchemeCount; ++i) {
    const auto& s = kSchemes[i];
    if (s.scope != scope) continue;
    const auto integers = integer_grid(range, s.bits, s.symmetric, unit);
    const auto levels = level_grid(range, s, unit);
    for_each_piece(n_, [&](size_t begin, size_t n) {
      into.error[i] +=
          square * (s.grid == Grid::kInteger ? integer_error(x_ + begin, n, n, &integers)
                                             : float_error(x_ + begin, n, n, &levels, s.format));
    });
  }
}

}  // namespace quantization
