#include "core/symbolic/fit.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tmeter::core {
namespace {

using Point = std::vector<int64_t>;
using Polynomials = std::vector<std::optional<Polynomial>>;

constexpr size_t kChecks = 8, kMinChecks = 2;
constexpr int kCandidates = 64;  // attempts to find enough points
constexpr std::array<int64_t, 14> kSteps{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128};

/// Sizes 0 and 1 are special to torch (empty tensors, broadcasting): starts at 2 if possible.
int64_t least(const SizeRange& s) { return std::min(std::max<int64_t>(s.min, 2), s.max); }
int64_t most(const SizeRange& s) { return std::max(least(s), std::min(s.max, kMaxUnboundedSize)); }

class AxisFinder {
 public:
  AxisFinder(const std::vector<SizeRange>& sizes, const Fittable& function)
      : sizes_(sizes), function_(function) {
    for (const auto& s : sizes) point_.push_back(s.value);
  }

  /// Tries the smallest steps and sizes first: their values are small, too. `at_least` is for sizes
  /// that depend on each other (2 a + b must be divisible by 8).
  Lattice::Axis find(size_t i, int64_t at_least) {
    const auto& s = sizes_[i];
    for (const auto step : kSteps) {
      if (step < at_least) continue;
      const auto behind = ((s.value - least(s)) % step + step) % step;
      for (const auto base : {least(s) + behind, s.value, s.value - kMaxDegree * step}) {
        if (base < least(s) || base > s.max) continue;
        // One value is left for checking.
        const auto values = std::min<int64_t>((s.max - base) / step, kMaxDegree + 1);
        const Lattice::Axis axis{base, step, static_cast<int>(values)};
        if (values >= 2 && all_possible(i, axis)) return axis;
      }
    }
    return {s.value, 1, 1};
  }

 private:
  bool all_possible(size_t i, const Lattice::Axis& axis) {
    bool all = true;
    for (int j = 0; j < axis.nodes && all; ++j) {
      point_[i] = axis.base + j * axis.step;
      all = function_.possible(point_);
    }
    point_[i] = sizes_[i].value;
    return all;
  }

  const std::vector<SizeRange>& sizes_;
  const Fittable& function_;
  Point point_;
};

/// A lattice whose points are all valid sizes.
std::optional<Lattice> find_lattice(const std::vector<SizeRange>& sizes, const Fittable& f) {
  for (const int64_t at_least : {1, 2, 4, 8, 16}) {
    AxisFinder finder(sizes, f);
    std::vector<Lattice::Axis> axes;
    for (size_t i = 0; i < sizes.size(); ++i) axes.push_back(finder.find(i, at_least));
    Lattice lattice(std::move(axes), kMaxDegree);
    const auto& points = lattice.points();
    if (std::all_of(points.begin(), points.end(),
                    [&](const auto& p) { return f.possible(lattice.place(p)); }))
      return lattice;
  }
  return std::nullopt;
}

/// A generator with the same numbers in every run.
class Random {
 public:
  uint64_t below(uint64_t n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
    return (state_ >> 33) % n;
  }

 private:
  uint64_t state_ = 2026;
};

struct Check {
  Point point;
  Fittable::Values values;
};

class CheckFinder {
 public:
  CheckFinder(const std::vector<SizeRange>& sizes, const Lattice& lattice, const Fittable& f)
      : sizes_(sizes), lattice_(lattice), function_(f) {}

  /// Both ends of all ranges, then points of any magnitude between them.
  std::vector<Check> find() {
    Point low, high;
    for (const auto& s : sizes_) {
      low.push_back(std::max(std::min<int64_t>(s.max, 1), s.min));
      high.push_back(most(s));
    }
    add(low);
    add(high);
    for (int i = 0; i < kCandidates && checks_.size() < kChecks; ++i) add(anywhere());
    return std::move(checks_);
  }

 private:
  Point anywhere() {
    Point out;
    for (const auto& s : sizes_) {
      const auto width = static_cast<uint64_t>(most(s) - least(s)) + 1;
      const auto narrowed = std::max<uint64_t>(width >> (2 * random_.below(10)), 1);
      out.push_back(least(s) + static_cast<int64_t>(random_.below(narrowed)));
    }
    return out;
  }
  /// Rounds to the lattice's steps: sizes may have to be divisible.
  Point snapped(Point p) const {
    for (size_t i = 0; i < p.size(); ++i) {
      const auto& axis = lattice_.axis(i);
      p[i] -= (p[i] - axis.base) % axis.step;
      while (p[i] < sizes_[i].min) p[i] += axis.step;
    }
    return p;
  }
  void add(Point p) {
    if (!is_new(p)) return;
    if (!function_.possible(p)) p = snapped(std::move(p));
    if (!is_new(p) || !function_.possible(p)) return;
    tried_.push_back(p);
    auto values = function_.evaluate(p);
    if (values) checks_.push_back({std::move(p), std::move(*values)});
  }
  bool is_new(const Point& p) const {
    return !lattice_.contains(p) && std::find(tried_.begin(), tried_.end(), p) == tried_.end();
  }

  const std::vector<SizeRange>& sizes_;
  const Lattice& lattice_;
  const Fittable& function_;
  Random random_;
  std::vector<Point> tried_;
  std::vector<Check> checks_;
};

bool holds(const Polynomial& p, const std::vector<Check>& checks, size_t series) {
  return std::all_of(checks.begin(), checks.end(), [&](const Check& c) {
    return c.values[series] && p.at(c.point) == c.values[series];
  });
}

/// Values at the lattice's points, computed when they are needed.
class Samples {
 public:
  Samples(const Lattice& lattice, const Fittable& f) : lattice_(lattice), function_(f) {}

  bool extend_to(size_t n) {
    while (taken_.size() < n) {
      auto values = function_.evaluate(lattice_.place(lattice_.points()[taken_.size()]));
      if (!values) return false;
      taken_.push_back(std::move(*values));
    }
    return true;
  }
  /// Empty if the series lacks a value.
  std::optional<std::vector<int64_t>> of(size_t series) const {
    std::vector<int64_t> out;
    for (const auto& values : taken_) {
      if (!values[series]) return std::nullopt;
      out.push_back(*values[series]);
    }
    return out;
  }

 private:
  const Lattice& lattice_;
  const Fittable& function_;
  std::vector<Fittable::Values> taken_;
};

}  // namespace

std::vector<std::optional<Polynomial>> fit_polynomials(const std::vector<SizeRange>& sizes,
                                                       const Fittable& f) {
  Polynomials found(f.series);
  if (sizes.empty() || sizes.size() > kMaxSizes) return found;
  const auto lattice = find_lattice(sizes, f);
  if (!lattice) return found;
  const auto checks = CheckFinder(sizes, *lattice, f).find();
  if (checks.size() < kMinChecks) return found;

  std::vector<size_t> open;
  for (size_t s = 0; s < f.series; ++s) {
    if (checks.front().values[s]) open.push_back(s);
  }
  Samples samples(*lattice, f);
  size_t points = 0;
  for (int degree = 0; degree <= kMaxDegree && !open.empty(); ++degree) {
    if (lattice->count(degree) == points) break;  // narrow ranges have no more points
    points = lattice->count(degree);
    if (!samples.extend_to(points)) return found;
    const Interpolation interpolation(*lattice, degree);
    std::erase_if(open, [&](size_t s) {
      const auto values = samples.of(s);
      auto p = values ? interpolation.of(*values) : std::nullopt;
      if (p && holds(*p, checks, s)) found[s] = std::move(p);
      return found[s] || !values;
    });
  }
  return found;
}

namespace {

using Point = std::vector<int64_t>;

constexpr std::array<int64_t, 9> kDivisors{1,  2,  4,   8,  16,
                                           32, 64, 128, 256};  // sizes may have to be divisible

class PieceFinder {
 public:
  PieceFinder(const std::vector<SizeRange>& sizes, const Fittable& function)
      : sizes_(sizes), function_(function) {
    for (const auto& s : sizes) present_.push_back(s.value);
  }

  Pieces find() {
    if (!find_steps()) return {};
    explain(present_);
    if (pieces_.empty()) return {};
    for (const auto& corner : corners()) explain(corner);
    bool whole = true;
    for (const auto& [p, value] : cache_) {
      const auto most = maximum(p);
      if (value && most > value) return {};
      whole = whole && (!value || most == value);
    }
    return {std::move(pieces_), whole};
  }

 private:
  /// Sizes may have to be divisible, alone or together.
  bool find_steps() {
    for (const auto step : kDivisors) {
      auto p = present_;
      const bool all = std::ranges::all_of(p, [&](int64_t& size) {
        const auto i = static_cast<size_t>(&size - p.data());
        const bool up = size <= sizes_[i].max - step;
        if (!up && size - sizes_[i].min < step) return false;
        size += up ? step : -step;
        const bool possible = function_.possible(p);
        size = present_[i];
        return possible;
      });
      if (!all) continue;
      step_ = step;
      return true;
    }
    return false;
  }

  /// The smallest and largest sizes, and each size at its largest with all others at their
  /// smallest.
  std::vector<Point> corners() const {
    Point low, high;
    for (const auto& s : sizes_) {
      low.push_back(snapped(std::min(std::max<int64_t>(s.min, 2), s.max), s));
      high.push_back(snapped(std::max(s.value, std::min(s.max, kMaxUnboundedSize)), s));
    }
    std::vector<Point> out{low, high};
    for (size_t i = 0; i < low.size(); ++i) {
      out.push_back(low);
      out.back()[i] = high[i];
    }
    return out;
  }
  /// The nearest size that is a whole number of steps from the present one.
  int64_t snapped(int64_t size, const SizeRange& s) const {
    auto out = size - (size - s.value) % step_;
    while (out < s.min) out += step_;
    return out > s.max ? s.value : out;
  }

  std::optional<int64_t> at(const Point& p) {
    const auto entry = cache_.find(p);
    if (entry != cache_.end()) return entry->second;
    std::optional<int64_t> value;
    if (function_.possible(p))
      if (const auto values = function_.evaluate(p)) value = values->front();
    return cache_[p] = value;
  }
  std::optional<int64_t> maximum(const Point& p) const {
    std::optional<int64_t> most;
    for (const auto& piece : pieces_) most = std::max(most, piece.at(p));
    return most;
  }

  /// Adds the piece that is the maximum at a point, unless an earlier one is. A point without a
  /// value, such as where bytes exceed 63 bits, is ignored, and so is a window too narrow for a
  /// fit.
  void explain(const Point& p) {
    const auto value = at(p);
    if (!value || maximum(p) >= value || pieces_.size() == kMaxPieces) return;
    auto piece = piece_at(p);
    if (piece && piece->at(p) == value) pieces_.push_back(std::move(*piece));
  }

  /// The polynomial of lowest degree through the points beside `p` that also meets two further
  /// ones.
  std::optional<Polynomial> piece_at(const Point& p) {
    std::vector<Lattice::Axis> axes;
    for (size_t i = 0; i < p.size(); ++i) {
      const auto most = std::min<int64_t>((sizes_[i].max - sizes_[i].min) / step_, kMaxDegree) + 1;
      const auto length = (most - 1) * step_;
      const bool up = p[i] <= sizes_[i].max - length;
      axes.push_back(
          {up ? p[i] : std::max(p[i] - length, sizes_[i].min), step_, static_cast<int>(most)});
    }
    const Lattice lattice(std::move(axes), kMaxDegree);
    for (int degree = 0; degree < kMaxDegree; ++degree) {
      std::vector<int64_t> values;
      for (size_t i = 0; i < lattice.count(degree + 1); ++i) {
        const auto value = at(lattice.place(lattice.points()[i]));
        if (!value) return std::nullopt;
        values.push_back(*value);
      }
      const Interpolation interpolation(lattice, degree);
      auto found = interpolation.of(std::span(values).first(interpolation.point_count()));
      bool meets = found.has_value();
      for (size_t i = 0; i < values.size() && meets; ++i)
        meets = found->at(lattice.place(lattice.points()[i])) == values[i];
      if (meets) return found;
    }
    return std::nullopt;
  }

  const std::vector<SizeRange>& sizes_;
  const Fittable& function_;
  Point present_;
  int64_t step_ = 1;
  std::map<Point, std::optional<int64_t>> cache_;
  std::vector<Polynomial> pieces_;
};

}  // namespace

Pieces fit_pieces(const std::vector<SizeRange>& sizes, const Fittable& function) {
  if (sizes.empty() || sizes.size() > kMaxSizes) return {};
  return PieceFinder(sizes, function).find();
}

}  // namespace tmeter::core
