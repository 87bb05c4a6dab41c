#include "core/symbolic/pieces.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tmeter::core {
namespace {

using Point = std::vector<int64_t>;

constexpr std::array<int64_t, 9> kDivisors{1, 2, 4, 8, 16, 32, 64, 128, 256};  // of divisible sizes

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
    for (const auto& [p, value] : known_) {
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

  /// The smallest and largest sizes, and each size at its largest beside smallest others.
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
    const auto known = known_.find(p);
    if (known != known_.end()) return known->second;
    std::optional<int64_t> value;
    if (function_.possible(p))
      if (const auto values = function_.evaluate(p)) value = values->front();
    return known_[p] = value;
  }
  std::optional<int64_t> maximum(const Point& p) const {
    std::optional<int64_t> most;
    for (const auto& piece : pieces_) most = std::max(most, piece.at(p));
    return most;
  }

  /// Adds the piece that leads at a point, unless an earlier one does. A point without a value, as
  /// where bytes exceed 63 bits, says nothing; neither does one in a window too narrow for a fit.
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
  std::map<Point, std::optional<int64_t>> known_;
  std::vector<Polynomial> pieces_;
};

}  // namespace

Pieces fit_pieces(const std::vector<SizeRange>& sizes, const Fittable& function) {
  if (sizes.empty() || sizes.size() > kMaxSizes) return {};
  return PieceFinder(sizes, function).find();
}

}  // namespace tmeter::core
