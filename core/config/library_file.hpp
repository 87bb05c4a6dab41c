// The file of a plugin's library: its identity, and whether it may be trusted.
#pragma once
#include <cstdint>
#include <string>

struct stat;

namespace tmeter::core {

/// Size and time of the last change, a cheap test for changes; zeros unless there is a regular
/// file.
struct FileStamp {
  uint64_t size = 0;  // bytes
  int64_t mtime = 0;  // ns since 1970
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& file);
FileStamp stamp_of(int file);
FileStamp stamp_of(const struct stat& info);

/// Distinguishes one build of a library from another.
struct LibraryIdentity {
  uint64_t size = 0;     // bytes
  int64_t mtime = 0;     // ns since 1970
  std::string sha256;    // hexadecimal
  std::string build_id;  // the linker's, hexadecimal; empty when it wrote none
};

LibraryIdentity identity_of(const std::string& library);

/// True if `library` is still the identified file. Compares size and modification time. If only the
/// time differs, as after copying or `pip install`, compares the build ID, or the hash of a file
/// without one.
bool is_still(const LibraryIdentity& identity, const std::string& library);
/// The same for a library whose stamp is known.
bool is_still(const LibraryIdentity& identity, const FileStamp& now, const std::string& library);

/// States who besides this user, root and the owner of tmeter may change a file or folder: "anybody
/// on this machine can change it; …". Empty: only these may.
std::string who_else_may_write(const std::string& path);
std::string who_else_may_write(const struct stat& info);

}  // namespace tmeter::core
