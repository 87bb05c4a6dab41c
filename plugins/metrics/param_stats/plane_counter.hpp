// How often each byte occurs at each place of an element: byte i of all elements is plane i.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "coding.hpp"
#include "low_halves.hpp"

namespace param_stats {

class PlaneCounter {
 public:
  /// For elements of `size` bytes; of none for 0.
  explicit PlaneCounter(size_t size) : size_(size), planes_(size), words_(size / 2) {}

  /// Whole elements; they are gone through once for each two planes.
  void add(std::span<const uint8_t> elements);
  void merge(const PlaneCounter& other);
  double bits() const;

 private:
  void add_words(const uint8_t* at, size_t n);
  std::vector<Plane> planes() const;

  size_t size_;
  std::vector<Plane> planes_;  // but what `words_` hold
  std::vector<std::unique_ptr<LowHalves>>
      words_;  // of two planes each, once there is much to count
};

}  // namespace param_stats
