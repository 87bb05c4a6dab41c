#include "core/config/elf_file.hpp"

#include <fcntl.h>

#include <cstring>
#include <string_view>

#include "core/base/descriptor.hpp"
#include "core/config/elf_file.hpp"

namespace tmeter::core {
namespace {

using Note = ElfW(Nhdr);

constexpr size_t kMaxNotes = 4096;

constexpr size_t padded(size_t size) { return (size + 3) & ~size_t{3}; }

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const unsigned char c : bytes) out += kDigits[c >> 4], out += kDigits[c & 15];
  return out;
}

/// The descriptor of the note with owner "GNU" and the build-ID type.
std::string build_id_in(std::string_view notes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  Note note{};
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    const auto name = padded(note.n_namesz), size = padded(note.n_descsz);
    if (name > notes.size() || size > notes.size() - name) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == kOwner)
      return hexadecimal(notes.substr(name, note.n_descsz));
    notes.remove_prefix(name + size);
  }
  return {};
}

}  // namespace

std::string build_id_of(const std::string& library) {
  const Descriptor file(open(library.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  for (const auto& segment : elf_segments(file.get())) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNotes) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!read_at(file.get(), segment.p_offset, notes.data(), notes.size())) return {};
    if (auto id = build_id_in(notes); !id.empty()) return id;
  }
  return {};
}

}  // namespace tmeter::core
