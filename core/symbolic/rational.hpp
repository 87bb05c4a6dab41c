// Exact fractions of 128-bit integers, for interpolation. A result that does not fit becomes
// invalid, as does everything computed from it.
#pragma once
#include <cstdint>
#include <optional>

namespace tmeter::core {

__extension__ using Int128 = __int128;

class Rational {
 public:
  Rational(Int128 value = 0) : num_(value) {}  // NOLINT: an integer is a fraction
  Rational(Int128 num, Int128 den);            // den != 0

  /// False once something did not fit 128 bits.
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

}  // namespace tmeter::core
