// SHA-256 of files.
#pragma once
#include <string>

namespace tmeter::core {

/// 64 hexadecimal digits; empty when the file cannot be read or is not a regular file.
std::string sha256_of_file(const std::string& path);

}  // namespace tmeter::core
