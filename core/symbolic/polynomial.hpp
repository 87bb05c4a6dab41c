// Polynomials with exact fractions.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::core {

// Exact fractions of 128-bit integers, for interpolation. A result that does not fit becomes
// invalid, as does everything computed from it.

__extension__ using Int128 = __int128;

class Rational {
 public:
  Rational(Int128 value = 0) : num_(value) {}  // NOLINT: an integer is a fraction
  Rational(Int128 num, Int128 den);            // den != 0

  /// False once a value did not fit 128 bits.
  bool valid() const { return den_ != 0; }
  bool is_zero() const { return num_ == 0 && valid(); }
  /// Numerator and denominator (> 0) in lowest terms, when they fit 64 bits.
  std::optional<int64_t> num() const { return narrow(num_); }
  std::optional<int64_t> den() const { return narrow(den_); }
  /// The value, when it is a 64-bit integer.
  std::optional<int64_t> integer() const { return den_ == 1 ? narrow(num_) : std::nullopt; }

  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend bool operator==(const Rational&, const Rational&) = default;

 private:
  static Rational none();
  std::optional<int64_t> narrow(Int128 v) const {
    const bool fits = valid() && v >= INT64_MIN && v <= INT64_MAX;
    return fits ? std::optional(static_cast<int64_t>(v)) : std::nullopt;
  }
  Int128 num_ = 0, den_ = 1;
};

// Polynomials in a few sizes, recovered exactly from values at the points of a lattice.
//
//   Lattice lattice({{.base = 2, .step = 1, .nodes = 5}}, 4);         // 2, 3, 4, 5, 6
//   Interpolation(lattice, 2).of({12, 27, 48})  →  3·s²

struct Term {
  int64_t numerator = 0, denominator = 1;  // in lowest terms, the denominator positive
  std::vector<int64_t> powers;             // one per size
  int64_t degree() const;
};

struct Polynomial {
  std::vector<Term> terms;  // none is zero; highest degree first

  bool is_constant() const;
  /// The value, if it is a 64-bit integer.
  std::optional<int64_t> at(std::span<const int64_t> point) const;
  /// "8,192·batch·seq² + 512·batch"; "0" without terms.
  std::string text(std::span<const std::string_view> names) const;
};

/// The points of evaluation: per size base, base + step, …; only combinations whose steps
/// have at most the degree as their sum, which a polynomial of that degree needs.
class Lattice {
 public:
  struct Axis {
    int64_t base = 0, step = 1;
    int nodes = 1;  // number of values of this size, one more than its highest power
  };
  /// Steps along each axis.
  using Steps = std::vector<int>;

  Lattice(std::vector<Axis> axes, int max_degree);

  size_t size() const { return axes_.size(); }
  const Axis& axis(size_t i) const { return axes_[i]; }
  /// Sorted by degree; the first `count(d)` determine a polynomial of degree d.
  const std::vector<Steps>& points() const { return points_; }
  size_t count(int degree) const;
  std::vector<int64_t> place(const Steps& steps) const;
  bool contains(std::span<const int64_t> place) const;

 private:
  std::vector<Axis> axes_;
  std::vector<Steps> points_;
};

/// Finds the only polynomial of at most `degree` (in each size below the nodes of its axis) that
/// has given values at the first count(degree) points. The weights are computed once, so that
/// many series of values on one lattice cost little.
class Interpolation {
 public:
  Interpolation(const Lattice& lattice, int degree);

  size_t point_count() const { return point_count_; }
  /// Empty when a coefficient does not fit 64 bits.
  std::optional<Polynomial> of(std::span<const int64_t> values) const;

 private:
  struct Row {  // one coefficient: Σ weight · value / denominator
    std::vector<int64_t> powers;
    std::vector<Int128> weights;
    Int128 denominator = 1;
  };
  size_t point_count_ = 0;
  std::vector<Row> rows_;  // in the order of Polynomial::terms
  bool valid_ = true;
};

}  // namespace tmeter::core
