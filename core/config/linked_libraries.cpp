#include "core/config/linked_libraries.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "core/base/descriptor.hpp"
#include "core/base/text.hpp"
#include "core/config/elf_file.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;
using Dynamic = ElfW(Dyn);

constexpr size_t kMaxDynamic = 4096, kMaxTextBytes = 4096, kMaxLibraries = 64;
constexpr const char* kConfiguration = "/etc/ld.so.conf";

struct Links {
  std::vector<std::string> needed;
  std::string inherited, own;  // DT_RPATH, which also applies to the libraries it needs; DT_RUNPATH
};

std::string text_at(int file, uint64_t offset) {
  std::string text(kMaxTextBytes, '\0');
  const auto size = pread(file, text.data(), text.size(), static_cast<off_t>(offset));
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  const auto end = text.find('\0');
  return end == text.npos ? std::string() : text.substr(0, end);
}

std::optional<uint64_t> offset_of(const std::vector<ElfSegment>& segments, uint64_t address) {
  for (const auto& s : segments) {
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
      return s.p_offset + (address - s.p_vaddr);
  }
  return std::nullopt;
}

/// Empty when the file is not a library.
std::optional<Links> links_of(int file) {
  const auto segments = elf_segments(file);
  const auto place = std::find_if(segments.begin(), segments.end(),
                                  [](const ElfSegment& s) { return s.p_type == PT_DYNAMIC; });
  if (place == segments.end()) return std::nullopt;
  std::vector<Dynamic> entries(std::min<size_t>(place->p_filesz / sizeof(Dynamic), kMaxDynamic));
  if (!read_at(file, place->p_offset, entries.data(), entries.size() * sizeof(Dynamic)))
    return std::nullopt;
  const auto texts = std::find_if(entries.begin(), entries.end(),
                                  [](const Dynamic& d) { return d.d_tag == DT_STRTAB; });
  if (texts == entries.end()) return std::nullopt;
  const auto table = offset_of(segments, texts->d_un.d_ptr);
  if (!table) return std::nullopt;
  Links out;
  for (const auto& d : entries) {
    if (d.d_tag == DT_NULL) break;
    if (d.d_tag == DT_NEEDED && out.needed.size() < kMaxLibraries)
      out.needed.push_back(text_at(file, *table + d.d_un.d_val));
    if (d.d_tag == DT_RPATH) out.inherited = text_at(file, *table + d.d_un.d_val);
    if (d.d_tag == DT_RUNPATH) out.own = text_at(file, *table + d.d_un.d_val);
  }
  return out;
}

bool is_system_folder(const std::string& folder) {
  constexpr std::array<std::string_view, 4> kSystem{"/lib", "/lib64", "/usr/lib", "/usr/lib64"};
  return std::any_of(kSystem.begin(), kSystem.end(), [&](std::string_view s) {
    return folder == s || folder.starts_with(std::string(s) + "/");
  });
}

/// Search folders that the administrator has configured for the dynamic linker.
const std::vector<std::string>& configured_folders() {
  static const auto folders = [] {
    std::vector<std::string> files{kConfiguration}, out;
    std::error_code failed;
    for (const auto& f : fs::directory_iterator(std::string(kConfiguration) + ".d", failed))
      files.push_back(f.path().string());
    for (const auto& file : files) {
      std::ifstream in(file);
      for (std::string line; std::getline(in, line);) {
        if (line.starts_with('/')) out.push_back(line.substr(0, line.find_last_not_of(" \t") + 1));
      }
    }
    return out;
  }();
  return folders;
}

struct Place {
  std::string folder;
  bool beside;
};

void add_places(const std::string& list, const std::string& origin, std::vector<Place>& out) {
  for (auto folder : split(list, ":")) {
    bool beside = false;
    for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
      if (const auto at = folder.find(word); at != folder.npos)
        folder.replace(at, word.size(), origin), beside = true;
    }
    if (folder.starts_with('/')) out.push_back({folder, beside});
  }
}

class Search {
 public:
  std::vector<LinkedLibrary> found;

  void follow(int file, const std::string& folder, std::vector<Place> inherited, bool direct) {
    const auto links = links_of(file);
    if (!links) return;
    if (links->own.empty()) add_places(links->inherited, folder, inherited);
    std::vector<Place> places = links->own.empty() ? inherited : std::vector<Place>();
    if (const char* list = std::getenv("LD_LIBRARY_PATH")) add_places(list, folder, places);
    add_places(links->own, folder, places);
    for (const auto& f : configured_folders()) places.push_back({f, false});
    for (const auto& name : links->needed) look_for(name, places, inherited, direct);
  }

 private:
  void look_for(const std::string& name, const std::vector<Place>& places,
                const std::vector<Place>& inherited, bool direct) {
    if (name.starts_with('/')) {
      take(name, false, inherited, direct);
    } else if (name.find('/') == name.npos) {
      for (const auto& p : places) {
        if (take(p.folder + "/" + name, p.beside, inherited, direct)) return;
      }
    }
  }

  /// Whether the library exists.
  bool take(const std::string& named, bool beside, const std::vector<Place>& inherited,
            bool direct) {
    const Descriptor file(open(named.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0 || !links_of(file.get())) return false;
    const auto path = fs::path(named).lexically_normal();
    const auto folder = path.parent_path().string();
    if (is_system_folder(folder)) return true;
    if (found.size() >= kMaxLibraries || !seen_.insert(path.string()).second) return true;
    found.push_back({path.string(), beside, direct});
    follow(file.get(), folder, inherited, false);
    return true;
  }

  std::set<std::string> seen_;
};

}  // namespace

std::vector<LinkedLibrary> linked_libraries(int file, const std::string& folder) {
  Search search;
  search.follow(file, folder, {}, true);
  return std::move(search.found);
}

std::vector<std::string> linked_folders(int file, const std::string& folder) {
  std::set<std::string> folders;
  for (const auto& library : linked_libraries(file, folder)) {
    const fs::path path(library.path);
    folders.insert(path.parent_path().string());
    std::error_code failed;
    const auto real = fs::canonical(path, failed);
    if (!failed && !is_system_folder(real.parent_path().string()))
      folders.insert(real.parent_path().string());
  }
  return {folders.begin(), folders.end()};
}

}  // namespace tmeter::core
