// Measures the bytes per second between the cores and a level of memory.
#pragma once
#include <cstddef>

namespace measure {

struct Bandwidth {
  double triad = 0;  ///< a = b + s·c, bytes read and written (STREAM; lines fetched to be written
                     ///< are not counted)
  double read = 0;   ///< a sum
};

/// Works on `bytes` in total, an equal share per thread.
Bandwidth bandwidth(size_t bytes, unsigned threads);

}  // namespace measure
