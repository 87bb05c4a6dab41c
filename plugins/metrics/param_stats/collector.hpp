// Collects the statistics of one tensor while its elements are streamed. The element type decides
// how:
//
//   patterns  types of at most 16 bits: counts of all bit patterns give everything in one pass
//   small     tensors of a few elements are collected and sorted
//   wide      the others: moments_pass.hpp, then selection_pass.hpp
#pragma once
#include <array>
#include <memory>
#include <span>
#include <tmeter/cpp/numbers.hpp>
#include <tmeter/cpp/tensor_analysis.hpp>
#include <vector>

#include "statistics.hpp"

namespace param_stats {

class Collector {
 public:
  virtual ~Collector() = default;
  /// Little-endian elements, aligned to their size.
  virtual void add(std::span<const uint8_t> elements) = 0;
  /// `other` is of the same kind and pass.
  virtual void merge(Collector& other) = 0;
  /// Fills in statistics. True: another pass is needed, whose collectors `next` makes and whose
  /// `finish` continues with the same `out`.
  virtual bool finish(double threshold, Statistics& out) = 0;
  /// A collector for a part in the next pass. Called on any thread, after `finish`.
  virtual std::unique_ptr<Collector> next() const { return nullptr; }
};

constexpr int64_t kSmallTensor = 1024;  // elements

/// Elements of packed weights are decoded: their bytes are not those of the file and are not
/// counted.
enum class Decoded {
  kNo,
  kOnePass,  // without quantiles, bins and near zeros, which need a second decoding
  kTwoPasses
};

/// For a part of a tensor of `numel` elements; tmeter::decode supports the type.
std::unique_ptr<Collector> make_collector(tmeter::DType type, int64_t numel,
                                          Decoded decoded = Decoded::kNo);

// Elements of more than 16 bits as float or double, a block at a time.

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
