// Sizes of memory and caches, as the kernel reports them.
#pragma once
#include <array>
#include <cstddef>
#include <string>

namespace measure {

struct CacheLevel {
  size_t each = 0;   ///< bytes of one cache; 0: absent or unknown
  size_t total = 0;  ///< bytes of all caches of this level
};

struct Memory {
  size_t total = 0, available = 0;   ///< bytes
  std::array<CacheLevel, 4> caches;  ///< by level, [1] to [3]; data and unified caches
};

/// `root` is prepended to "/sys" and "/proc".
Memory memory_of_machine(const std::string& root = "");

}  // namespace measure
