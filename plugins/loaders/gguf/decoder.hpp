// The decoder of ggml's encodings, for the host: blocks.hpp behind the SDK's interface.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace gguf {

/// Suffix of an encoding's id: its numbers are big-endian.
inline constexpr const char* kBigEndian = ".be";

void register_decoder(tmeter::Registrar& registrar);

}  // namespace gguf
