// Elements of more than 16 bits as float or double, a block at a time.
#pragma once
#include <array>
#include <span>
#include <tmeter/cpp/numbers.hpp>
#include <vector>

namespace param_stats {

/// Blocks fit the first-level cache, since several loops go over each.
template <class T>
constexpr size_t kBlock = std::is_same_v<T, float> ? 8192 : 2048;

/// T: float for float32, double for all others.
template <class T>
class Blocks {
 public:
  explicit Blocks(tmeter::DType type) : type_(type), size_(static_cast<size_t>(type.bytes())) {}
  /// f(values, stored) for every kBlock elements.
  template <class F>
  void each(std::span<const uint8_t> elements, F f) {
    while (elements.size() >= size_) {
      const size_t n = std::min(elements.size() / size_, kBlock<T>);
      f(values(elements.first(n * size_), n), elements.data());
      elements = elements.subspan(n * size_);
    }
  }

 private:
  /// float32 and float64 need no copy: chunks are aligned.
  std::span<const T> values(std::span<const uint8_t> bytes, size_t n) {
    constexpr auto kStored = std::is_same_v<T, float> ? TMETER_DTYPE_FLOAT32 : TMETER_DTYPE_FLOAT64;
    if (type_.id() == kStored) return {reinterpret_cast<const T*>(bytes.data()), n};
    buffer_.resize(kBlock<T>);
    const std::span<T> block(buffer_.data(), n);
    tmeter::decode<T>(type_, bytes, block);
    return block;
  }

  tmeter::DType type_;
  size_t size_;
  std::vector<T> buffer_;
};

}  // namespace param_stats
