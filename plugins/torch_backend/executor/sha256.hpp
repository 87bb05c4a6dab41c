// SHA-256 (FIPS 180-4) for digests of outputs. Not optimised: only --set
// torch-backend.output-digest uses it.
#pragma once
#include <string>
#include <string_view>

namespace tmeter::torch_backend {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tmeter::torch_backend
