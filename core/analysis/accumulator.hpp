// Accumulators for the roll-ups of modules and calls.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/analysis/results.hpp"
#include "core/base/checked.hpp"

namespace tmeter::core {

/// A sum overflows: integers exceed 63 bits, or a real sum is not finite.
struct SumOverflow {
  bool is_real = false;
};

inline double finite(double value) {
  if (!std::isfinite(value)) throw SumOverflow{true};
  return value;
}

/// A number in 16 bytes instead of the 24 of a tmeter_number.
struct CompactNumber {
  CompactNumber() = default;
  explicit CompactNumber(int64_t i) : payload(i) {}
  explicit CompactNumber(const tmeter_number& n)
      : payload(n.kind == TMETER_NUMBER_FLOAT ? std::bit_cast<int64_t>(n.f) : n.i),
        is_real(n.kind == TMETER_NUMBER_FLOAT),
        is_partial(core::is_partial(n)) {}
  double real() const {
    return is_real ? std::bit_cast<double>(payload) : static_cast<double>(payload);
  }
  tmeter_number number() const {
    auto n = is_real ? core::number(std::bit_cast<double>(payload)) : core::number(payload);
    if (is_partial) n.flags = TMETER_NUMBER_PARTIAL;
    return n;
  }
  int64_t payload = 0;
  bool is_real = false, is_partial = false;
};

inline CompactNumber sum_of(const CompactNumber& a, const CompactNumber& b) {
  if (a.is_real || b.is_real) return CompactNumber(number(finite(a.real() + b.real())));
  const auto s = checked_add(a.payload, b.payload);
  if (!s) throw SumOverflow();
  return CompactNumber(*s);
}

/// Positions of the last value, the last missing one, and the last one inside an answered call.
struct Positions {
  void value_at(uint32_t at) { value = std::max(value, at); }
  void gap_at(uint32_t at) { gap = std::max(gap, at); }
  void in_module_at(uint32_t at) { in_module = std::max(in_module, at); }
  uint32_t value = 0, gap = 0, in_module = 0;
};
struct NoPositions {
  void value_at(uint32_t) {}
  void gap_at(uint32_t) {}
  void in_module_at(uint32_t) {}
};

struct WeightedSums {
  void add(double value, double weight) { sum += value * weight, weights += weight; }
  double sum = 0, weights = 0;
};
struct Unweighted {
  void add(double, double) {}
};

/// Accumulates cells under one aggregation and notes missing ones. A graph needs one for each call:
/// it holds only the members that its aggregation needs.
template <int32_t kAggregation>
class Accumulator {
  static constexpr bool kLast = kAggregation == TMETER_AGGREGATE_LAST;
  static constexpr bool kMean = kAggregation == TMETER_AGGREGATE_WEIGHTED_MEAN;

 public:
  /// `node`: the last node of the added value, for the aggregation "last".
  void add(const tmeter_number& n, size_t node, double weight = 1) {
    const auto at = static_cast<uint32_t>(node);
    if (n.kind == TMETER_NUMBER_NONE) return;
    if (n.kind == TMETER_NUMBER_IN_MODULE) {
      in_module_ = true;
      positions_.in_module_at(at);
      return;
    }
    if (!is_known(n)) return add_gap(n.kind != TMETER_NUMBER_UNAVAILABLE, at);
    number_ = number_ || is_number(n);
    partial_ = partial_ || is_partial(n);
    weighed_.add(real(n), weight);
    combine(is_number(n) ? CompactNumber(n) : CompactNumber(), at);
  }
  /// A value whose weight is unknown counts as missing.
  void add(const tmeter_number& n, const tmeter_number& weight, size_t node) {
    const bool is_weighed = weight.kind == TMETER_NUMBER_NONE || is_known(weight);
    if (is_known(n) && !is_weighed)
      return add_gap(weight.kind != TMETER_NUMBER_UNAVAILABLE, static_cast<uint32_t>(node));
    partial_ = partial_ || (is_known(n) && is_partial(weight));
    add(n, node, real(weight));
  }
  /// Adds all values of `inside`.
  void add(const Accumulator& inside) {
    unknown_ = unknown_ || inside.unknown_;
    unavailable_ = unavailable_ || inside.unavailable_;
    in_module_ = in_module_ || inside.in_module_;
    if constexpr (kLast) {
      positions_.gap_at(inside.positions_.gap);
      positions_.in_module_at(inside.positions_.in_module);
    }
    if (!inside.any_) return;
    if constexpr (kMean) {
      weighed_.sum += inside.weighed_.sum;
      weighed_.weights += inside.weighed_.weights;
    }
    uint32_t at = 0;
    if constexpr (kLast) at = inside.positions_.value;
    combine(inside.value(), at);
    number_ = number_ || inside.number_;
    partial_ = partial_ || inside.partial_;
  }

  tmeter_number result() const {
    if constexpr (kLast) return last();
    // Zeros by rule do not outweigh missing values.
    if (!number_ && has_gap()) return gap();
    if (!any_) return nothing();
    auto out = mean_or_value();
    const bool partial = is_number(out) && (has_gap() || partial_ || in_module_);
    out.flags = partial ? uint32_t{TMETER_NUMBER_PARTIAL} : 0;
    return out;
  }

 private:
  bool has_gap() const { return unknown_ || unavailable_; }
  tmeter_number nothing() const {
    return number_of_kind(in_module_ ? TMETER_NUMBER_IN_MODULE : TMETER_NUMBER_NONE);
  }
  tmeter_number gap() const {
    return number_of_kind(unknown_ ? TMETER_NUMBER_UNKNOWN : TMETER_NUMBER_UNAVAILABLE);
  }
  void add_gap(bool unknown, uint32_t at) {
    (unknown ? unknown_ : unavailable_) = true;
    positions_.gap_at(at);
  }
  CompactNumber value() const {
    CompactNumber n(payload_);
    n.is_real = is_real_;
    n.is_partial = is_partial_;
    return n;
  }
  void set(const CompactNumber& n) {
    payload_ = n.payload;
    is_real_ = n.is_real;
    is_partial_ = n.is_partial;
  }
  void combine(const CompactNumber& n, [[maybe_unused]] uint32_t at) {
    const bool first = !any_;
    any_ = true;
    if constexpr (kAggregation == TMETER_AGGREGATE_SUM) {
      set(first ? n : sum_of(value(), n));
    } else if constexpr (kAggregation == TMETER_AGGREGATE_MAX) {
      if (first || n.real() > value().real()) set(n);
    } else if constexpr (kLast) {
      if (first || at >= positions_.value) set(n);
    }
    positions_.value_at(at);
  }
  tmeter_number mean_or_value() const {
    if constexpr (kMean) {
      if (weighed_.weights > 0) return number(finite(weighed_.sum / weighed_.weights));
      return has_gap() ? gap() : tmeter_number{};
    } else {
      return value().number();
    }
  }
  /// Values before the last one do not matter, missing or not.
  tmeter_number last() const requires kLast {
    if (has_gap() && (!any_ || positions_.gap > positions_.value)) return gap();
    if (!any_ || (in_module_ && positions_.in_module > positions_.value)) return nothing();
    return value().number();
  }

  int64_t payload_ = 0;  // of the value
  bool is_real_ = false, is_partial_ = false;
  bool any_ = false, number_ = false;  // has a value; has a value other than zero by rule
  bool partial_ = false;
  bool unknown_ = false, unavailable_ = false;
  bool in_module_ = false;  // a value belongs to an answered module call
  [[no_unique_address]] std::conditional_t<kLast, Positions, NoPositions> positions_;
  [[no_unique_address]] std::conditional_t<kMean, WeightedSums, Unweighted> weighed_;
};
static_assert(sizeof(Accumulator<TMETER_AGGREGATE_SUM>) == 16);

}  // namespace tmeter::core
