// The measurements of a weight: its layout, the two passes over it, its outlier channels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tmeter/cpp/dtype.hpp>
#include <vector>

#include "meter.hpp"
#include "schemes.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace quantization {

// The layout of a weight in rows, channels and groups, and the size of a weight in each scheme.

/// A row is a slice of dim 0, flattened; groups are cut along it. A channel makes one output: it is
/// a row, or for transposed convolutions (channel_axis 1) a slice of dim 1.
struct Layout {
  tmeter::DType dtype;
  std::vector<int64_t> dims;
  int channel_axis = 0;
  int64_t elements = 0, rows = 0, row = 0;  // in total; rows; elements of a row
  int64_t channels = 0;
  int64_t run = 0;  // consecutive elements of one channel
  /// Chunks hold whole rows (abi/tensor_analysis.h).
  bool whole_rows = false;
  int64_t encoded_bytes = 0;  // stored bytes of an encoded weight, else 0

  /// Channels are whole rows seen at once: one pass is enough for them.
  bool channel_is_row() const { return whole_rows && channel_axis == 0; }
  size_t channel_of(int64_t element) const {
    return static_cast<size_t>((element / run) % channels);
  }
  int64_t bytes() const { return encoded_bytes > 0 ? encoded_bytes : elements * dtype.bytes(); }
};

/// Rank at least 2 and no empty dim.
Layout layout_of(tmeter::DType dtype, std::span<const int64_t> dims, int channel_axis);

/// Bytes of the elements, scales and zero points; every row begins at a byte.
int64_t stored_bytes(const Scheme& scheme, const Layout& layout);

// Reassembles groups of long rows, cut by the ends of chunks and parts.

class GroupAssembler {
 public:
  static constexpr int64_t kGroup = 128;  // every group size divides it
  using UseGroups = std::function<void(std::span<const float>)>;

  /// `row`: elements of a row. Each row begins a new group.
  explicit GroupAssembler(int64_t row) : row_(row) {}

  /// Takes elements of the tensor from `first` on, in order. Calls `whole` with runs of whole
  /// groups.
  void add(int64_t first, std::span<const float> x, const UseGroups& whole);
  /// `next` has the elements that follow.
  void merge(const GroupAssembler& next, const UseGroups& whole);

 private:
  void add_in_row(int64_t at, std::span<const float> x, const UseGroups& whole);
  /// Elements from `at` (in its row) to the end of its group.
  int64_t to_boundary(int64_t at) const;
  void fill_open(int64_t at, std::span<const float> x, const UseGroups& whole);

  int64_t row_;
  bool begun_ = false;       // a group has begun in this part
  std::vector<float> head_;  // the end of a group that begins in an earlier part
  int64_t head_at_ = 0;      // its position in the row
  std::vector<float> open_;  // the beginning of a group that is not complete
};

// The two passes over a weight. The first gives its range, the largest magnitude of every row and
// column, and the errors of schemes with scales per row. The second gives the errors of schemes
// whose scales need more than one row at a time.

class FirstPass {
 public:
  /// Adds elements from `first` on.
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
  GroupAssembler assembler_;
};

class SecondPass {
 public:
  /// Keeps references: `first` outlives it.
  explicit SecondPass(const FirstPass& first) : first_(&first) {}
  void add(int64_t first, std::span<const uint8_t> bytes);
  void merge(const SecondPass& next) { sums_.add(next.sums_); }
  /// Frees memory.
  void finish() { buffer_ = {}; }
  const Sums& sums() const { return sums_; }

 private:
  const FirstPass* first_;
  Sums sums_;
  Meter meter_;
  std::vector<float> buffer_;
};

/// The measurements of a weight.
struct Measurements {
  bool finite = true;
  bool zero = false;  // zeros only
  /// dB by scheme; infinite: lossless; NaN: unknown (too large for the format).
  std::array<double, kSchemeCount> sqnr{};
};

Measurements measurements_of(const FirstPass& first, const Sums& all);

/// ‖x - q‖ / ‖x‖ from an SQNR in dB.
double relative_error(double sqnr);

// Channels whose largest weight stands out: they widen the range of all weights that share their
// scale.

struct Outlier {
  size_t index;
  double ratio;  // its largest magnitude over the median of all channels'
};

/// Channels of at least `ratio` times the median, the largest first. Empty if half the channels are
/// 0.
std::vector<Outlier> outliers_in(const std::vector<float>& largest, double ratio);

}  // namespace quantization
#pragma GCC visibility pop
