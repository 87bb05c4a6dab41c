// The decoder of ggml's encodings, for the host: blocks.hpp behind the SDK's interface.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace gguf {

/// Behind an encoding's id: the numbers in it are big-endian.
inline constexpr const char* kBigEndian = ".be";

void register_decoder(tmeter::Registrar& registrar);

}  // namespace gguf
