// The libraries a library is linked to, read from ELF files that are valid, damaged or misleading.
#include "core/config/linked_libraries.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/descriptor.hpp"
#include "core/config/elf_file.hpp"
#include "tests/support/new_folder.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;
using Dynamic = ElfW(Dyn);

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

ElfHeader header_of(size_t segments) {
  ElfHeader h{};
  std::memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  h.e_phoff = sizeof h;
  h.e_phentsize = sizeof(ElfSegment);
  h.e_phnum = static_cast<ElfW(Half)>(segments);
  return h;
}

struct Wish {
  std::vector<std::string> needed;
  std::string runpath = "$ORIGIN";
  uint64_t table = 0;  // added to the address of the texts
};

/// A library that consists of a table of its needed libraries: header, two segments, dynamic
/// section, strings.
std::string library_with(const Wish& wish) {
  std::string texts(1, '\0');
  std::vector<Dynamic> entries;
  const auto add = [&](ElfW(Sxword) tag, const std::string& text) {
    Dynamic d{};
    d.d_tag = tag;
    d.d_un.d_val = texts.size();
    entries.push_back(d);
    texts += text + '\0';
  };
  for (const auto& name : wish.needed) add(DT_NEEDED, name);
  if (!wish.runpath.empty()) add(DT_RUNPATH, wish.runpath);
  const size_t dynamic_at = sizeof(ElfHeader) + 2 * sizeof(ElfSegment);
  const size_t texts_at = dynamic_at + (entries.size() + 2) * sizeof(Dynamic);
  Dynamic table{};
  table.d_tag = DT_STRTAB;
  table.d_un.d_ptr = texts_at + wish.table;
  entries.push_back(table);
  entries.push_back({});  // DT_NULL
  ElfSegment load{}, dynamic{};
  load.p_type = PT_LOAD;
  load.p_filesz = texts_at + texts.size();
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = dynamic_at;
  dynamic.p_filesz = entries.size() * sizeof(Dynamic);
  std::string out = bytes_of(header_of(2)) + bytes_of(load) + bytes_of(dynamic);
  for (const auto& d : entries) out += bytes_of(d);
  return out + texts;
}

class LinkedLibraries : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
  std::vector<LinkedLibrary> of(const std::string& content) {
    const Descriptor file(open(write("it.so", content).c_str(), O_RDONLY | O_CLOEXEC));
    return linked_libraries(file.get(), folder_.string());
  }
  const testing::NewFolder new_folder_{};
  const fs::path folder_ = new_folder_.path;
};

TEST_F(LinkedLibraries, IncludeDependenciesOfLibrariesInTheSameFolder) {
  write("libb.so", library_with({{"libc_of_b.so"}}));
  write("libc_of_b.so", library_with({}));
  const auto found = of(library_with({{"libb.so", "libmissing.so", "libc.so.6"}}));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].path, (folder_ / "libb.so").string());
  EXPECT_TRUE(found[0].beside && found[0].direct);
  EXPECT_EQ(found[1].path, (folder_ / "libc_of_b.so").string());
  EXPECT_TRUE(found[1].beside && !found[1].direct);
}

TEST_F(LinkedLibraries, EndAtCircularDependencies) {
  write("liba.so", library_with({{"libb.so"}}));
  write("libb.so", library_with({{"liba.so", "libb.so"}}));
  EXPECT_EQ(of(library_with({{"liba.so"}})).size(), 2u);
}

TEST_F(LinkedLibraries, AreBoundedInNumber) {
  Wish wish;
  for (int i = 0; i < 1000; ++i) {
    wish.needed.push_back("lib" + std::to_string(i) + ".so");
    if (i < 100) write(wish.needed.back(), library_with({}));
  }
  EXPECT_EQ(of(library_with(wish)).size(), 64u);
}

TEST_F(LinkedLibraries, AreNotFoundByRelativePaths) {
  write("libb.so", library_with({}));
  EXPECT_TRUE(
      of(library_with({{"./libb.so", "../" + folder_.filename().string() + "/libb.so", ""}}))
          .empty());
  EXPECT_TRUE(of(library_with({{"libb.so"}, "."})).empty());
}

TEST_F(LinkedLibraries, AreEmptyIfTheTableIsOutsideTheFile) {
  write("libb.so", library_with({}));
  EXPECT_TRUE(of(library_with({{"libb.so"}, "$ORIGIN", 1 << 20})).empty());
  EXPECT_TRUE(of(library_with({{"libb.so"}, "$ORIGIN", UINT64_MAX - 100})).empty());
}

TEST_F(LinkedLibraries, AreEmptyForATruncatedFile) {
  write("libb.so", library_with({}));
  const auto whole = library_with({{"libb.so"}});
  const auto needed = sizeof(ElfHeader) + 2 * sizeof(ElfSegment) + 4 * sizeof(Dynamic);
  for (size_t size = 0; size < needed; ++size)
    EXPECT_TRUE(of(whole.substr(0, size)).empty()) << size;
}

TEST_F(LinkedLibraries, AreReadSafelyWithAnyWrongByte) {
  write("libb.so", library_with({}));
  const auto whole = library_with({{"libb.so"}});
  for (size_t at = 0; at < whole.size(); ++at) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    EXPECT_LE(of(damaged).size(), 1u) << at;
  }
}

TEST_F(LinkedLibraries, FoldersIncludeTheTargetsOfLinks) {
  fs::create_directory(folder_ / "real");
  write("real/libb.so", library_with({}));
  fs::create_symlink(folder_ / "real/libb.so", folder_ / "libb.so");
  const Descriptor file(
      open(write("it.so", library_with({{"libb.so"}})).c_str(), O_RDONLY | O_CLOEXEC));
  const auto folders = linked_folders(file.get(), folder_.string());
  EXPECT_EQ(folders, (std::vector<std::string>{folder_.string(),
                                               (fs::canonical(folder_) / "real").string()}));
}

class ElfSegments : public LinkedLibraries {
 protected:
  size_t segments_of(const ElfHeader& header,
                     const std::string& rest = std::string(8 * sizeof(ElfSegment), '\0')) {
    const Descriptor file(
        open(write("it.so", bytes_of(header) + rest).c_str(), O_RDONLY | O_CLOEXEC));
    return elf_segments(file.get()).size();
  }
};

TEST_F(ElfSegments, AreAsManyAsInTheHeader) {
  EXPECT_EQ(segments_of(header_of(2)), 2u);
  EXPECT_EQ(segments_of(header_of(0)), 0u);
}

TEST_F(ElfSegments, AreEmptyForAnotherMachineOrAnInvalidHeader) {
  auto h = header_of(2);
  h.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(segments_of(h), 0u);
  h = header_of(2);
  h.e_ident[0] = 'E';
  EXPECT_EQ(segments_of(h), 0u);
  h = header_of(2);
  h.e_phentsize = sizeof(ElfSegment) - 1;
  EXPECT_EQ(segments_of(h), 0u);
  EXPECT_EQ(segments_of(header_of(65), std::string(65 * sizeof(ElfSegment), '\0')), 0u);
  EXPECT_EQ(segments_of(header_of(0xFFFF)), 0u);
  h = header_of(2);
  h.e_phoff = UINT64_MAX - 8;
  EXPECT_EQ(segments_of(h), 0u);
  EXPECT_EQ(segments_of(header_of(2), std::string(2 * sizeof(ElfSegment) - 1, '\0')), 0u);
  EXPECT_EQ(elf_segments(-1).size(), 0u);
}

}  // namespace
}  // namespace tmeter::core
