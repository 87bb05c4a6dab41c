// The sizes of memory and caches by the kernel's tables.
#pragma once
#include <array>
#include <cstddef>
#include <string>

namespace measure {

struct CacheLevel {
  size_t each = 0;   ///< bytes of one; 0: absent or unknown
  size_t total = 0;  ///< bytes of all of this kind
};

struct Memory {
  size_t total = 0, available = 0;   ///< bytes
  std::array<CacheLevel, 4> caches;  ///< by level, [1] to [3]; data and unified caches
};

/// `root` stands before "/sys" and "/proc".
Memory memory_of_machine(const std::string& root = "");

}  // namespace measure
