// The headers of a shared library in a file, read with a bound on each, and its build ID.
#pragma once
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tmeter::core {

using ElfHeader = ElfW(Ehdr);
using ElfSegment = ElfW(Phdr);

inline bool read_at(int file, uint64_t offset, void* out, size_t size) {
  return pread(file, out, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

/// Empty when the file is not a library for this machine.
inline std::vector<ElfSegment> elf_segments(int file) {
  constexpr size_t kMaxProgramHeaders = 64;
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  ElfHeader h{};
  const bool is_library = read_at(file, 0, &h, sizeof h) &&
                          std::memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 &&
                          h.e_ident[EI_CLASS] == kClass && h.e_phentsize == sizeof(ElfSegment) &&
                          h.e_phnum <= kMaxProgramHeaders;
  if (!is_library) return {};
  std::vector<ElfSegment> out(h.e_phnum);
  if (!read_at(file, h.e_phoff, out.data(), out.size() * sizeof(ElfSegment))) return {};
  return out;
}

/// The build ID that linkers write into a library, a hash of its content. Hexadecimal; empty when
/// the file is not an ELF library for this machine, has no build ID, or cannot be read. Reads a few
/// hundred bytes of a file of any size.
std::string build_id_of(const std::string& library);

}  // namespace tmeter::core
