// Collects the statistics of one tensor while its elements are streamed. The element type decides
// how:
//
//   patterns  types of at most 16 bits: counts of all bit patterns give everything in one pass
//   small     tensors of a few elements are collected and sorted
//   wide      the others: moments_pass.hpp, then selection_pass.hpp
#pragma once
#include <memory>
#include <tmeter/cpp/tensor_analysis.hpp>

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

/// For a part of a tensor of `numel` elements; tmeter::decode knows the type.
std::unique_ptr<Collector> make_collector(tmeter::DType type, int64_t numel,
                                          Decoded decoded = Decoded::kNo);

}  // namespace param_stats
