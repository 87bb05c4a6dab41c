// Files that people write and that are read as a whole: configuration, hardware profiles,
// manifests.
#pragma once
#include <cstddef>
#include <string>

#include "core/base/error.hpp"

namespace tmeter::core {

/// The whole file, of at most `most` bytes. Throws Error(kind) if it is missing, longer, or not a
/// regular file: a pipe would block, a device may have no end.
std::string read_small_file(ErrorKind kind, const std::string& path, size_t most);

}  // namespace tmeter::core
