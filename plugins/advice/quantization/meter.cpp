#include "meter.hpp"

namespace quantization {
namespace {

/// Calls f(begin, count) for pieces that kernels take.
template <class F>
void for_each_piece(size_t n, F f) {
  for (size_t begin = 0; begin < n; begin += kPiece) f(begin, std::min(kPiece, n - begin));
}

constexpr size_t kGroupsInPiece = kPiece / kAlign;

/// The divisor of elements and errors before they are squared, so that tiny weights do not
/// underflow.
float unit_of(const Range& r) { return std::max(r.largest(), FLT_MIN); }

/// Ranges of two groups each.
void join(const std::vector<float>& from, size_t n, std::vector<float>& to,
          const float& (*which)(const float&, const float&)) {
  const size_t pairs = (n + 1) / 2;
  to.assign(pairs + kStoreSlack, 0.f);
  for (size_t i = 0; i < pairs; ++i) to[i] = which(from[2 * i], from[2 * i + 1]);
}

}  // namespace

bool Meter::observe(const float* x, size_t n) {
  x_ = x;
  n_ = padded(n);
  size_t groups = n_ / kAlign;
  auto& [lo, hi] = ranges_[0];
  lo.assign(groups + kStoreSlack, 0.f);
  hi.assign(groups + kStoreSlack, 0.f);
  const uint32_t largest = ranges(x_, n_, lo.data(), hi.data());
  range_ = {};
  for (size_t i = 0; i < groups; ++i) range_.take({lo[i], hi[i]});
  for (size_t i = 1; i < ranges_.size(); ++i) {  // zeros at an odd end change nothing
    join(ranges_[i - 1].lo, groups, ranges_[i].lo, std::min<float>);
    join(ranges_[i - 1].hi, groups, ranges_[i].hi, std::max<float>);
    groups = (groups + 1) / 2;
  }
  return largest < 0x7f800000u;
}

double Meter::group_error(const Scheme& s, size_t begin, size_t n) const {
  const auto each = static_cast<size_t>(s.group);
  const float unit = unit_of(range_);
  std::array<IntegerGroup, kGroupsInPiece + kStoreSlack> integers;
  std::array<LevelGroup, kGroupsInPiece + kStoreSlack> levels;
  const auto& r = ranges_[static_cast<size_t>(std::countr_zero(each / kAlign))];
  const float *lo = r.lo.data() + begin / each, *hi = r.hi.data() + begin / each;
  const size_t groups = (n + each - 1) / each;
  if (s.grid == Grid::kInteger)
    integer_grids(lo, hi, groups, s.bits, s.symmetric, unit, integers.data());
  else
    level_grids(lo, hi, groups, s, unit, levels.data());
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
