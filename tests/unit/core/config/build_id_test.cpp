// Build IDs of libraries, whole and damaged.
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "core/config/elf_file.hpp"

namespace tmeter::core {
namespace {

/// An ELF file of a header, one segment of notes, and the notes.
std::string file_with(const std::string& notes, ElfW(Half) segments = 1,
                      uint64_t size_of_notes = UINT64_MAX) {
  ElfW(Ehdr) header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phnum = segments;
  ElfW(Phdr) segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = size_of_notes == UINT64_MAX ? notes.size() : size_of_notes;
  std::string out(reinterpret_cast<const char*>(&header), sizeof header);
  out.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return out + notes;
}

std::string note(uint32_t type, const std::string& owner, const std::string& bytes,
                 uint32_t claimed = UINT32_MAX) {
  const uint32_t words[]{static_cast<uint32_t>(owner.size()),
                         claimed == UINT32_MAX ? static_cast<uint32_t>(bytes.size()) : claimed,
                         type};
  const auto padded = [](std::string text) { return text.resize((text.size() + 3) & ~3u), text; };
  return std::string(reinterpret_cast<const char*>(words), sizeof words) + padded(owner) +
         padded(bytes);
}

std::string id_in(const std::string& content) {
  const auto path = ::testing::TempDir() + std::to_string(getpid()) + "build_id_test.so";
  std::ofstream(path, std::ios::binary) << content;
  return build_id_of(path);
}

const std::string kGnu("GNU\0", 4);

TEST(BuildId, IsTheNoteOfItsOwnerAndType) {
  const auto id = note(NT_GNU_BUILD_ID, kGnu, "\x01\xAB\xFF");
  EXPECT_EQ(id_in(file_with(id)), "01abff");
  EXPECT_EQ(id_in(file_with(note(NT_GNU_ABI_TAG, kGnu, "0123456789") + id)), "01abff");
  EXPECT_EQ(id_in(file_with(note(NT_GNU_BUILD_ID, "ACME", "x") + id)), "01abff");
  EXPECT_EQ(id_in(file_with(note(NT_GNU_ABI_TAG, kGnu, "x"))), "");
}

TEST(BuildId, IsEmptyForDamagedFiles) {
  const auto whole = file_with(note(NT_GNU_BUILD_ID, kGnu, "\x01\xAB\xFF"));
  for (size_t size = 0; size < whole.size() - 1; ++size)  // the last byte is padding
    EXPECT_EQ(id_in(whole.substr(0, size)), "") << size;
  EXPECT_EQ(id_in(file_with(note(NT_GNU_BUILD_ID, kGnu, "x", 0xFFFFFFFE))), "");
  EXPECT_EQ(id_in(file_with(note(NT_GNU_BUILD_ID, kGnu, "x", 0xFFFFFFF0))), "");
  EXPECT_EQ(id_in(file_with("", 0xFFFF)), "");
  EXPECT_EQ(id_in(file_with("", 1, uint64_t{1} << 62)), "");
  EXPECT_EQ(build_id_of("/nonexistent"), "");
  EXPECT_EQ(build_id_of("/"), "");
}

}  // namespace
}  // namespace tmeter::core
