// Count: an exact, checked 64-bit count; Cell: the result of a handler.
#pragma once
#include <cstdint>

#include "base.hpp"

TMETER_SDK_BEGIN

/// A non-negative count of elements, MACs or bytes. Overflow throws instead of wrapping.
class Count {
 public:
  constexpr Count(int64_t value = 0) : value_(value) {}  // NOLINT: a number is a count
  constexpr int64_t value() const { return value_; }

  friend Count operator*(Count a, Count b) {
    int64_t r = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &r)) overflow();
    return r;
  }
  friend Count operator+(Count a, Count b) {
    int64_t r = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &r)) overflow();
    return r;
  }
  friend Count operator-(Count a, Count b) {
    int64_t r = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &r)) overflow();
    return r;
  }
  friend Count operator/(Count a, Count b) {
    if (b.value_ == 0) detail::raise(Error(TMETER_BAD_MODEL, "division by zero in a count"));
    return a.value_ / b.value_;
  }
  Count& operator+=(Count o) { return *this = *this + o; }
  Count& operator*=(Count o) { return *this = *this * o; }
  friend constexpr bool operator==(Count a, Count b) { return a.value_ == b.value_; }
  friend constexpr auto operator<=>(Count a, Count b) { return a.value_ <=> b.value_; }

 private:
  [[noreturn]] static void overflow() {
    detail::raise(Error(TMETER_BAD_MODEL, "a count exceeds 2^63"));
  }
  int64_t value_;
};

/// One value of a handler or analysis: a count, a real number, or the reason why it is
/// missing.
class Cell {
 public:
  Cell() : n_{TMETER_NUMBER_NONE, 0, 0, 0} {}
  Cell(Count c) : n_{TMETER_NUMBER_INT, 0, c.value(), 0} {}  // NOLINT
  Cell(double f) : n_{TMETER_NUMBER_FLOAT, 0, 0, f} {}       // NOLINT
  /// A kind that is unknown to this SDK is read as unknown.
  explicit Cell(tmeter_number n) : n_(n) {
    if (n.kind < TMETER_NUMBER_NONE || n.kind > TMETER_NUMBER_IN_MODULE)
      n_ = {TMETER_NUMBER_UNKNOWN, 0, 0, 0};
  }
  static Cell zero_by_rule() { return of_kind(TMETER_NUMBER_ZERO_BY_RULE); }
  /// "Not mine": the next handler is called; without one the node is listed as unknown.
  static Cell unsupported() { return of_kind(TMETER_NUMBER_UNKNOWN); }
  static Cell unavailable() { return of_kind(TMETER_NUMBER_UNAVAILABLE); }

  bool known() const { return is_number() || n_.kind == TMETER_NUMBER_ZERO_BY_RULE; }
  bool is_number() const { return n_.kind == TMETER_NUMBER_INT || n_.kind == TMETER_NUMBER_FLOAT; }
  bool is_int() const { return n_.kind == TMETER_NUMBER_INT; }
  bool is_unknown() const { return n_.kind == TMETER_NUMBER_UNKNOWN; }
  bool is_zero_by_rule() const { return n_.kind == TMETER_NUMBER_ZERO_BY_RULE; }
  bool is_unavailable() const { return n_.kind == TMETER_NUMBER_UNAVAILABLE; }
  bool empty() const { return n_.kind == TMETER_NUMBER_NONE; }
  /// It has no separate value, because the value of an enclosing module call contains it.
  bool in_module() const { return n_.kind == TMETER_NUMBER_IN_MODULE; }
  /// A module handler gave the value, which covers everything inside.
  bool by_module() const { return (n_.flags & TMETER_NUMBER_BY_MODULE) != 0; }
  /// A value without some of its parts: a sum is a lower bound.
  bool partial() const { return known() && (n_.flags & TMETER_NUMBER_PARTIAL) != 0; }
  /// A value that rests on an assumption that a warning names. It is not a bound.
  bool assumed() const { return known() && (n_.flags & TMETER_NUMBER_ASSUMED) != 0; }
  Cell as_partial() const {
    Cell out = *this;
    out.n_.flags |= TMETER_NUMBER_PARTIAL;
    return out;
  }
  /// The value as a count (0 unless it is one) and as a real number (0 unless known).
  Count count() const { return n_.kind == TMETER_NUMBER_INT ? n_.i : 0; }
  double real() const {
    return n_.kind == TMETER_NUMBER_INT     ? static_cast<double>(n_.i)
           : n_.kind == TMETER_NUMBER_FLOAT ? n_.f
                                            : 0.0;
  }
  tmeter_number abi() const { return n_; }

 private:
  static Cell of_kind(int32_t kind) { return Cell(tmeter_number{kind, 0, 0, 0}); }
  tmeter_number n_;
};

TMETER_SDK_END
