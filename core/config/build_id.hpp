// The build ID that linkers write into a library: a hash of what they linked.
#pragma once
#include <string>

namespace tmeter::core {

/// Hexadecimal; empty when the file is no ELF library of this machine's kind, has none, or cannot
/// be read. Reads a few hundred bytes, however large the file is.
std::string build_id_of(const std::string& library);

}  // namespace tmeter::core
