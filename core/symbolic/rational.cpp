#include "core/symbolic/rational.hpp"

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
  // Crosswise reduction first: what would overflow only before it is reduced does not.
  const Rational x(a.num_, b.den_), y(b.num_, a.den_);
  Int128 num = 0, den = 0;
  const bool overflow =
      __builtin_mul_overflow(x.num_, y.num_, &num) || __builtin_mul_overflow(x.den_, y.den_, &den);
  return overflow ? Rational::none() : Rational(num, den);
}

}  // namespace tmeter::core
