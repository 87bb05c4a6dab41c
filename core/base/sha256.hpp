// SHA-256 (FIPS 180-4), by which plugins are recognised.
#pragma once
#include <string>
#include <string_view>

namespace tmeter::core {

/// 64 hexadecimal digits in lower case.
std::string sha256_hex(std::string_view bytes);

/// Of a file; empty if it is unreadable or not a regular file.
std::string sha256_of_file(const std::string& path);

}  // namespace tmeter::core
