// Arithmetic on numbers from a file: it reports overflow instead of undefined behaviour.
#pragma once
#include <cstdint>
#include <optional>

namespace tmeter::core {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t r = 0;
  return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t r = 0;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}

/// True if [offset, offset + size) is inside [0, limit).
inline bool range_fits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

}  // namespace tmeter::core
