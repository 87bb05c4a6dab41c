// Whether what a plugin holds is still there: calls, builders and outputs end with the callback that
// received them, and a plugin that keeps one would follow it into memory that is something else by then.
#pragma once
#include <cstdint>

namespace tmeter::core {

/// A member of the object behind a handle. Memory that was given back does not have the mark, as a rule;
/// the write when it ends is volatile so that it is not taken for one without effect.
class LiveMark {
 public:
  LiveMark() = default;
  LiveMark(const LiveMark&) {}
  LiveMark& operator=(const LiveMark&) { return *this; }
  ~LiveMark() { mark_ = 0; }
  bool is_there() const { return mark_ == kMark; }

 private:
  static constexpr uint64_t kMark = 0x746d657465724142;  // "tmeterAB"
  volatile uint64_t mark_ = kMark;
};

}  // namespace tmeter::core
