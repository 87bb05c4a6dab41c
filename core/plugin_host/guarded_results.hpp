// An array for the results of a shape rule that detects writes beyond its end.
#pragma once
#include <tmeter/abi/builder.h>

#include <cstddef>
#include <span>

namespace tmeter::core {

/// Guard words are on both sides of the array, and a read-only page after them: a write beyond the
/// array changes a guard word, or crashes while the rule runs.
class GuardedResults {
 public:
  /// The ids are 0. Throws Error(kPlugin) if there is not enough memory.
  explicit GuardedResults(size_t count);
  ~GuardedResults();
  GuardedResults(const GuardedResults&) = delete;
  GuardedResults& operator=(const GuardedResults&) = delete;

  std::span<tmeter_id> ids() const { return ids_; }
  /// Whether the guard words are unchanged.
  bool intact() const;

 private:
  static constexpr size_t kMarks = 64;  // guard words on each side
  std::span<tmeter_id> all() const { return {ids_.data() - kMarks, ids_.size() + 2 * kMarks}; }

  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  std::span<tmeter_id> ids_;
};

}  // namespace tmeter::core
