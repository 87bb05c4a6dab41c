// Floating-point values as integers of the same order (keys), and the 65,536 buckets they fall
// into.
//
// A bucket is the upper half of a float32: sign, 8 bits of exponent, 7 of mantissa. A float64
// beyond the range of float32 falls into the first or the last bucket of its sign.
#pragma once
#include <bit>
#include <cstdint>

namespace param_stats {

constexpr uint16_t kNegative = 0x8000;
constexpr uint16_t kLastBucket = 0x7f7f;  // of finite values; above are inf and NaN

struct KeyRange {
  int64_t lo, hi;  // inclusive
};

template <class T>
struct OrderKeys;

template <>
struct OrderKeys<float> {
  static constexpr int kShift = 16;  // key of a magnitude → bucket
  static constexpr int64_t kFirst = 0, kLargest = 0x7f7fffff;
  static uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
  static bool finite(float x) { return (bits(x) & 0x7fffffff) <= kLargest; }
  static uint16_t bucket(float x) { return static_cast<uint16_t>(bits(x) >> 16); }
  static int64_t key(float x) {
    const auto magnitude = static_cast<int64_t>(bits(x) & 0x7fffffff);
    return bits(x) >> 31 ? -magnitude : magnitude;
  }
  static double value(int64_t key) {
    const auto magnitude = static_cast<uint32_t>(key < 0 ? -key : key);
    return std::bit_cast<float>(magnitude | (key < 0 ? 0x80000000u : 0u));
  }
};

template <>
struct OrderKeys<double> {
  static constexpr int kShift = 45;
  static constexpr int64_t kFirst = int64_t{1023 - 127} << 7;  // the biases of the exponents
  static constexpr int64_t kLargest = 0x7fefffffffffffff;
  static uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }
  static int64_t magnitude(double x) {
    return static_cast<int64_t>(bits(x) & ~(uint64_t{1} << 63));
  }
  static bool finite(double x) { return magnitude(x) <= kLargest; }
  static uint16_t bucket(double x) {
    const int64_t at = (magnitude(x) >> kShift) - kFirst;
    const int64_t kept = at < 0 ? 0 : at > kLastBucket ? kLastBucket : at;
    return static_cast<uint16_t>(kept | (bits(x) >> 63 ? kNegative : 0));
  }
  static int64_t key(double x) { return bits(x) >> 63 ? -magnitude(x) : magnitude(x); }
  static double value(int64_t key) {
    const auto magnitude = static_cast<uint64_t>(key < 0 ? -key : key);
    return std::bit_cast<double>(magnitude | (key < 0 ? uint64_t{1} << 63 : 0));
  }
};

/// The keys of a bucket of finite values.
template <class T>
KeyRange keys_of(uint16_t bucket) {
  using Keys = OrderKeys<T>;
  const int64_t code = bucket & 0x7fff;
  const int64_t lo = code == 0 ? 0 : (code + Keys::kFirst) << Keys::kShift;
  const int64_t hi =
      code == kLastBucket ? Keys::kLargest : ((code + 1 + Keys::kFirst) << Keys::kShift) - 1;
  return bucket & kNegative ? KeyRange{-hi, -lo} : KeyRange{lo, hi};
}

}  // namespace param_stats
