// Detects handles that a plugin kept too long. Calls, builders and outputs end with the callback
// that received them; their memory may be reused afterwards.
#pragma once
#include <tmeter/abi/builder.h>

#include <cstdint>

namespace tmeter::core {

/// A member of each object behind a handle. Freed memory usually lacks the mark. The write in the
/// destructor is volatile, so that the compiler does not remove it as dead.
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

/// Looks the handle up among the existing builders before anything behind it is read: a kept
/// builder is freed memory. Any thread.
bool is_live(const tmeter_builder* builder);

/// A member of each builder: it is live as long as this.
class BuilderRegistration {
 public:
  explicit BuilderRegistration(const tmeter_builder* builder);
  ~BuilderRegistration();
  BuilderRegistration(const BuilderRegistration&) = delete;
  BuilderRegistration& operator=(const BuilderRegistration&) = delete;

 private:
  const tmeter_builder* builder_;
};

}  // namespace tmeter::core
