// The two passes over a weight. The first gives its range, the largest magnitude of every row and
// column, and the errors of schemes with scales per row. The second gives the errors of schemes
// whose scales need more than one row at a time.
#pragma once
#include "fragments.hpp"
#include "layout.hpp"
#include "meter.hpp"

#pragma GCC visibility push(hidden)
namespace quantization {

class FirstPass {
 public:
  /// For elements from `first` on.
  FirstPass(const Layout& layout, int64_t first);

  void add(int64_t first, std::span<const uint8_t> bytes);
  /// `next` saw the elements that follow.
  void merge(const FirstPass& next);
  /// Computes columns; frees memory.
  void finish();

  const Layout& layout() const { return layout_; }
  bool finite() const { return finite_; }
  const Range& range() const { return range_; }
  const Sums& sums() const { return sums_; }
  /// By channel; empty when channels are rows, whose errors are in `sums` already.
  const std::vector<Range>& channels() const { return channels_; }
  /// Largest magnitudes by index of dim 0 and dim 1. Columns are empty for rows above 4 MiB.
  const std::vector<float>& rows() const { return rows_; }
  const std::vector<float>& columns() const { return columns_; }

 private:
  void add_row(std::span<const uint8_t> bytes);
  void add_split(int64_t first, std::span<const uint8_t> bytes);
  void add_whole(std::span<const float> x);
  void keep_channels(int64_t first, std::span<const float> x);

  Layout layout_;
  int64_t first_row_;
  bool finite_ = true;
  Range range_;
  Sums sums_;
  Meter meter_;
  std::vector<float> buffer_;
  std::vector<float> rows_, columns_, positions_;  // positions: of a row
  std::vector<Range> channels_;
  Fragments fragments_;
};

class SecondPass {
 public:
  /// Keeps references: `first` outlives it.
  explicit SecondPass(const FirstPass& first) : first_(&first) {}
  void add(int64_t first, std::span<const uint8_t> bytes);
  void merge(const SecondPass& next) { sums_.add(next.sums_); }
  /// Gives back memory.
  void finish() { buffer_ = {}; }
  const Sums& sums() const { return sums_; }

 private:
  const FirstPass* first_;
  Sums sums_;
  Meter meter_;
  std::vector<float> buffer_;
};

/// The measurements of a weight.
struct Figures {
  bool finite = true;
  bool zero = false;  // zeros only
  /// dB by scheme; infinite: nothing is lost; NaN: unknown (too large for the format).
  std::array<double, kSchemeCount> sqnr{};
};

Figures figures_of(const FirstPass& first, const Sums& all);

/// ‖x - q‖ / ‖x‖ from an SQNR in dB.
double relative_error(double sqnr);

}  // namespace quantization
#pragma GCC visibility pop
