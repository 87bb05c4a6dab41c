// Elements of more than 16 bits as float or double, some thousand at a time.
#pragma once
#include <array>
#include <tmeter/cpp/numbers.hpp>

#include "double_looks.hpp"

namespace param_stats {

/// Elements looked at together: doubles that fit the first cache, as they are gone through more
/// than once; of floats, at which one look is enough, so many that what each block costs does not
/// count.
template <class T>
constexpr size_t kBlock = std::is_same_v<T, float> ? 8192 : 2048;

/// Elements of any wide type as T: float for float32, double for the others.
template <class T>
class Blocks {
 public:
  explicit Blocks(tmeter::DType type) : type_(type), size_(static_cast<size_t>(type.bytes())) {}
  size_t size() const { return size_; }
  /// f(numbers) for every kBlock elements.
  template <class F>
  void each(std::span<const uint8_t> elements, F f) {
    while (elements.size() >= size_) {
      const size_t n = std::min(elements.size() / size_, kBlock<T>);
      f(numbers(elements.first(n * size_), n));
      elements = elements.subspan(n * size_);
    }
  }

 private:
  /// float32 and float64 as they lie there: chunks are aligned.
  std::span<const T> numbers(std::span<const uint8_t> bytes, size_t n) {
    if (type_.id() == kSame) return {reinterpret_cast<const T*>(bytes.data()), n};
    const std::span<T> block(buffer_.data(), n);
    if constexpr (std::is_same_v<T, double>) {
      if (type_.id() == TMETER_DTYPE_INT32) return widened<int32_t>(bytes, block);
      if (type_.id() == TMETER_DTYPE_INT64) return widened<int64_t>(bytes, block);
    }
    tmeter::decode<T>(type_, bytes, block);
    return block;
  }
  template <class Stored>
  static std::span<const double> widened(std::span<const uint8_t> bytes, std::span<double> out) {
    widen(reinterpret_cast<const Stored*>(bytes.data()), out.size(), out.data());
    return out;
  }
  static constexpr int32_t kSame =
      std::is_same_v<T, float> ? TMETER_DTYPE_FLOAT32 : TMETER_DTYPE_FLOAT64;

  tmeter::DType type_;
  size_t size_;
  std::array<T, kBlock<T>> buffer_;
};

}  // namespace param_stats
