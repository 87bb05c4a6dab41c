// Reassembles groups of long rows, cut by the ends of chunks and parts.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace quantization {

class Fragments {
 public:
  static constexpr int64_t kGroup = 128;  // every group size divides it
  using Whole = std::function<void(std::span<const float>)>;

  /// `row`: elements of a row. Each row begins a new group.
  explicit Fragments(int64_t row) : row_(row) {}

  /// Elements from `first` of the tensor on, in order. Calls `whole` with runs of whole groups.
  void add(int64_t first, std::span<const float> x, const Whole& whole);
  /// `next` has the elements that follow.
  void merge(const Fragments& next, const Whole& whole);

 private:
  void add_in_row(int64_t at, std::span<const float> x, const Whole& whole);
  /// Elements from `at` (in its row) to the end of its group.
  int64_t to_boundary(int64_t at) const;
  void fill_open(int64_t at, std::span<const float> x, const Whole& whole);

  int64_t row_;
  bool begun_ = false;       // a group has begun in this part
  std::vector<float> head_;  // the end of a group that begins in an earlier part
  int64_t head_at_ = 0;      // its position in the row
  std::vector<float> open_;  // the beginning of a group that is not complete
};

}  // namespace quantization
