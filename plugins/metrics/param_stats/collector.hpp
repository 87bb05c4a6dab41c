// How the elements of a tensor are taken in: one way per kind of element type.
//
//   codes   8- and 16-bit types: how often each bit pattern occurs says everything
//   few     tensors of a few elements: all of them, sorted
//   wide    the others: moments in one pass, order statistics and histogram in a second
#pragma once
#include <memory>
#include <tmeter/cpp/tensor_analysis.hpp>

#include "figures.hpp"

namespace param_stats {

class Collector {
 public:
  virtual ~Collector() = default;
  /// Little-endian elements, aligned to their size.
  virtual void add(std::span<const uint8_t> elements) = 0;
  /// `other` is of the same kind and pass.
  virtual void merge(Collector& other) = 0;
  /// Works out the figures. True: another pass is needed, through `next` for each part of it; then
  /// what is in `out` goes on there.
  virtual bool finish(double threshold, Figures& out) = 0;
  /// A collector of the pass that follows. Called on any thread, after `finish`.
  virtual std::unique_ptr<Collector> next() const { return nullptr; }
};

constexpr int64_t kFew = 1024;

/// For a part of a tensor of `numel` elements; the type is one that tmeter::decode knows.
std::unique_ptr<Collector> collector(tmeter::DType type, int64_t numel);

std::unique_ptr<Collector> code_collector(tmeter::DType type);
std::unique_ptr<Collector> few_collector(tmeter::DType type);
std::unique_ptr<Collector> wide_collector(tmeter::DType type);

}  // namespace param_stats
