// Bytes written by a person: "24GiB", "80 GB".
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace serving {

/// Units B, KB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024). Nothing for
/// other text, and for sizes above 2^62.
std::optional<int64_t> bytes_of(std::string_view text);

}  // namespace serving
