// The build ID that linkers write into a library: a hash of its content.
#pragma once
#include <string>

namespace tmeter::core {

/// Hexadecimal; empty when the file is not an ELF library for this machine, has no build ID, or cannot
/// be read. Reads a few hundred bytes of a file of any size.
std::string build_id_of(const std::string& library);

}  // namespace tmeter::core
