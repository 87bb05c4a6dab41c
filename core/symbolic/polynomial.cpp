#include "core/symbolic/polynomial.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tmeter/cpp/units.hpp>

namespace tmeter::core {
namespace {

Int128 gcd(Int128 a, Int128 b) {
  if (a < 0) a = -a;
  while (b != 0) {
    const Int128 r = a % b;
    a = b;
    b = r;
  }
  return a;
}

}  // namespace

Rational Rational::none() {
  Rational r;
  r.den_ = 0;
  return r;
}

Rational::Rational(Int128 num, Int128 den) : num_(num), den_(den) {
  if (den_ < 0) num_ = -num_, den_ = -den_;
  const Int128 common = gcd(num_, den_);
  if (common > 1) num_ /= common, den_ /= common;
}

Rational operator+(const Rational& a, const Rational& b) {
  if (!a.valid() || !b.valid()) return Rational::none();
  const Int128 common = gcd(b.den_, a.den_);
  Int128 left = 0, right = 0, num = 0, den = 0;
  const bool overflow = __builtin_mul_overflow(a.num_, b.den_ / common, &left) ||
                        __builtin_mul_overflow(b.num_, a.den_ / common, &right) ||
                        __builtin_add_overflow(left, right, &num) ||
                        __builtin_mul_overflow(a.den_, b.den_ / common, &den);
  return overflow ? Rational::none() : Rational(num, den);
}

Rational operator*(const Rational& a, const Rational& b) {
  if (!a.valid() || !b.valid()) return Rational::none();
  // Reduced crosswise first: the products overflow only if those of the result do.
  const Rational x(a.num_, b.den_), y(b.num_, a.den_);
  Int128 num = 0, den = 0;
  const bool overflow =
      __builtin_mul_overflow(x.num_, y.num_, &num) || __builtin_mul_overflow(x.den_, y.den_, &den);
  return overflow ? Rational::none() : Rational(num, den);
}

namespace {

using Steps = Lattice::Steps;

int sum(const Steps& steps) { return std::accumulate(steps.begin(), steps.end(), 0); }

/// Appends all combinations of steps with the sum `left` on the axes from `axis` on.
void add_points(const std::vector<Lattice::Axis>& axes, size_t axis, int left, Steps& steps,
                std::vector<Steps>& out) {
  if (axis == axes.size()) {
    if (left == 0) out.push_back(steps);
    return;
  }
  for (int j = std::min(left, axes[axis].nodes - 1); j >= 0; --j) {
    steps[axis] = j;
    add_points(axes, axis + 1, left - j, steps, out);
  }
  steps[axis] = 0;
}

bool below(const Steps& a, const Steps& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](int x, int y) { return x <= y; });
}

int64_t binomial(int n, int k) {
  int64_t r = 1;
  for (int i = 1; i <= k; ++i) r = r * (n - k + i) / i;
  return r;
}

/// The weight of the value at `m` in the forward difference of the steps `j`:
/// Δ^j f = Σ over m ≤ j of (−1)^|j−m| ∏ C(j_i, m_i) f(m).
int64_t difference_weight(const Steps& j, const Steps& m) {
  if (!below(m, j)) return 0;
  int64_t weight = (sum(j) - sum(m)) % 2 ? -1 : 1;
  for (size_t i = 0; i < j.size(); ++i) weight *= binomial(j[i], m[i]);
  return weight;
}

/// C((x − base) / step, j) by powers of x.
std::vector<Rational> newton_basis(const Lattice::Axis& axis, int j) {
  std::vector<Rational> out{1};
  for (int r = 0; r < j; ++r) {
    // times (x − base − r step) / (step (r + 1))
    const Rational scale(1, Int128(axis.step) * (r + 1));
    const Rational root = -(Int128(axis.base) + Int128(r) * axis.step);
    out.emplace_back();
    for (size_t i = out.size(); i-- > 0;) {
      const Rational lower = i > 0 ? out[i - 1] : Rational();
      out[i] = scale * (lower + root * out[i]);
    }
  }
  return out;
}

/// A product of one polynomial per size, expanded: powers → coefficient.
using Expanded = std::map<std::vector<int64_t>, Rational>;

void add_product(const std::vector<std::vector<Rational>>& factors, const Rational& so_far,
                 std::vector<int64_t>& powers, size_t axis, Expanded& out) {
  if (so_far.is_zero()) return;
  if (axis == factors.size()) {
    out.emplace(powers, so_far);
    return;
  }
  for (size_t p = 0; p < factors[axis].size(); ++p) {
    powers[axis] = static_cast<int64_t>(p);
    add_product(factors, so_far * factors[axis][p], powers, axis + 1, out);
  }
  powers[axis] = 0;
}

/// ∏ C((x_i − base_i) / step_i, j_i): 1 at the point `j`, 0 at all points not above it.
Expanded newton_product(const Lattice& lattice, const Steps& j) {
  std::vector<std::vector<Rational>> factors;
  for (size_t i = 0; i < j.size(); ++i) factors.push_back(newton_basis(lattice.axis(i), j[i]));
  std::vector<int64_t> powers(j.size());
  Expanded out;
  add_product(factors, 1, powers, 0, out);
  return out;
}

int64_t degree_of(const std::vector<int64_t>& powers) {
  return std::accumulate(powers.begin(), powers.end(), int64_t{0});
}

/// Highest degree first, then by the first size.
struct ByDegree {
  bool operator()(const std::vector<int64_t>& a, const std::vector<int64_t>& b) const {
    const auto x = degree_of(a), y = degree_of(b);
    return x != y ? x > y : a > b;
  }
};

std::string power_text(int64_t power) {
  static constexpr std::array<const char*, 10> kDigits{"⁰", "¹", "²", "³", "⁴",
                                                       "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char c : std::to_string(power)) out += kDigits[static_cast<size_t>(c - '0')];
  return power == 1 ? "" : out;
}

/// The term without its sign.
std::string term_text(const Term& t, std::span<const std::string_view> names) {
  auto number = tmeter::grouped(t.numerator);
  if (number.front() == '-') number.erase(0, 1);
  if (t.denominator != 1) number += "/" + tmeter::grouped(t.denominator);
  std::string out = number == "1" && t.degree() > 0 ? "" : number;
  for (size_t i = 0; i < t.powers.size(); ++i) {
    if (t.powers[i] == 0) continue;
    if (!out.empty()) out += "·";
    out += std::string(names[i]) + power_text(t.powers[i]);
  }
  return out;
}

}  // namespace

int64_t Term::degree() const { return degree_of(powers); }

bool Polynomial::is_constant() const {
  return std::all_of(terms.begin(), terms.end(), [](const Term& t) { return t.degree() == 0; });
}

std::optional<int64_t> Polynomial::at(std::span<const int64_t> point) const {
  int64_t common = 1;
  for (const auto& t : terms) {
    const auto factor = t.denominator / std::gcd(common, t.denominator);
    if (__builtin_mul_overflow(common, factor, &common)) return std::nullopt;
  }
  Int128 total = 0;
  for (const auto& t : terms) {
    Int128 value = Int128(t.numerator) * (common / t.denominator);
    for (size_t i = 0; i < t.powers.size(); ++i) {
      for (int64_t p = 0; p < t.powers[i]; ++p) {
        if (__builtin_mul_overflow(value, Int128(point[i]), &value)) return std::nullopt;
      }
    }
    if (__builtin_add_overflow(total, value, &total)) return std::nullopt;
  }
  return Rational(total, common).integer();
}

std::string Polynomial::text(std::span<const std::string_view> names) const {
  std::string out;
  for (const auto& t : terms) {
    const bool negative = t.numerator < 0;
    out += out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    out += term_text(t, names);
  }
  return out.empty() ? "0" : out;
}

Lattice::Lattice(std::vector<Axis> axes, int max_degree) : axes_(std::move(axes)) {
  Steps steps(axes_.size());
  for (int d = 0; d <= max_degree; ++d) add_points(axes_, 0, d, steps, points_);
}

size_t Lattice::count(int degree) const {
  return static_cast<size_t>(std::count_if(points_.begin(), points_.end(),
                                           [&](const Steps& s) { return sum(s) <= degree; }));
}

std::vector<int64_t> Lattice::place(const Steps& steps) const {
  std::vector<int64_t> out;
  for (size_t i = 0; i < axes_.size(); ++i) out.push_back(axes_[i].base + axes_[i].step * steps[i]);
  return out;
}

bool Lattice::contains(std::span<const int64_t> at) const {
  return std::any_of(points_.begin(), points_.end(), [&](const Steps& s) {
    const auto p = place(s);
    return std::equal(p.begin(), p.end(), at.begin(), at.end());
  });
}

Interpolation::Interpolation(const Lattice& lattice, int degree)
    : point_count_(lattice.count(degree)) {
  const std::span points(lattice.points().data(), point_count_);
  std::map<std::vector<int64_t>, std::vector<Rational>, ByDegree> weights;
  for (const auto& j : points) {
    for (const auto& [powers, c] : newton_product(lattice, j)) {
      auto& row = weights.try_emplace(powers, point_count_).first->second;
      for (size_t m = 0; m < point_count_; ++m) {
        if (const auto w = difference_weight(j, points[m])) row[m] = row[m] + c * Rational(w);
      }
    }
  }
  for (auto& [powers, row] : weights) {
    Rational denominator = 1;  // common denominator
    for (const auto& w : row) {
      // denominator · w = a / b in lowest terms: it lacks the factor b
      const auto lacking = (denominator * w).den();
      denominator = lacking ? denominator * Rational(*lacking) : denominator;
      valid_ = valid_ && lacking && denominator.num();
    }
    if (!valid_) return;
    rows_.push_back({powers, {}, *denominator.num()});
    for (const auto& w : row) {
      const auto weight = (denominator * w).num();
      valid_ = valid_ && weight;
      rows_.back().weights.push_back(weight.value_or(0));
    }
  }
}

std::optional<Polynomial> Interpolation::of(std::span<const int64_t> values) const {
  if (!valid_) return std::nullopt;
  Polynomial out;
  for (const auto& row : rows_) {
    Int128 total = 0;
    for (size_t i = 0; i < point_count_; ++i) {
      Int128 value = 0;
      if (__builtin_mul_overflow(row.weights[i], Int128(values[i]), &value) ||
          __builtin_add_overflow(total, value, &total))
        return std::nullopt;
    }
    if (total == 0) continue;
    const Rational c(total, row.denominator);
    if (!c.num() || !c.den()) return std::nullopt;
    out.terms.push_back({*c.num(), *c.den(), row.powers});
  }
  return out;
}

}  // namespace tmeter::core
