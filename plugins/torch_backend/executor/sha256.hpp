// SHA-256 (FIPS 180-4), for telling outputs apart. Plain: it is asked for by hand alone.
#pragma once
#include <string>
#include <string_view>

namespace tmeter::torch_backend {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tmeter::torch_backend
