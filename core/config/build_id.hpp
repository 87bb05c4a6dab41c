// The build ID that linkers write into a library: a hash of what they linked.
#pragma once
#include <string>

namespace tmeter::core {

/// Hexadecimal; empty when the file is not an ELF library for this machine, has no build ID, or cannot
/// be read. Reads a few hundred bytes, however large the file is.
std::string build_id_of(const std::string& library);

}  // namespace tmeter::core
