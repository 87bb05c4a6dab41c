// The file of a plugin's library: its identity, whether it may be trusted, and the file held open.
#pragma once
#include <cstdint>
#include <string>

#include "core/base/descriptor.hpp"

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
  std::string build_id;  // the linker's build ID, hexadecimal; may be empty
};

LibraryIdentity identity_of(const std::string& library);

/// True if `library` is still the identified file. Compares size and modification time. If only the
/// time differs, as after copying or `pip install`, compares the build ID, or the hash of a file
/// without one.
bool is_unchanged(const LibraryIdentity& identity, const std::string& library);
/// The same for a library whose stamp is known.
bool is_unchanged(const LibraryIdentity& identity, const FileStamp& now,
                  const std::string& library);

/// States who, other than this user, root and the owner of tmeter may change a file or folder:
/// "anybody on this machine can change it; …". Empty: only these may.
std::string other_writers(const std::string& path);
std::string other_writers(const struct stat& info);

// A plugin's library, opened once and pinned by its descriptor: the same file is checked, hashed,
// described and loaded, even if another file takes its name in between.

class PinnedLibrary {
 public:
  /// Throws Error(kPlugin) when the file is missing, not regular or unreadable, or when another
  /// user can change it, its folder, or the folder of a link on the way to it.
  explicit PinnedLibrary(const std::string& library);

  /// Replaces the open file by a sealed copy in memory, which later writes into the file do not
  /// change. Throws Error(kPlugin) when there is no memory for it. Call it before the sandbox is
  /// entered.
  void seal();

  /// The given path, made absolute.
  const std::string& path() const { return path_; }
  /// The folder of the file itself, for "$ORIGIN".
  const std::string& folder() const { return folder_; }
  int descriptor() const { return file_.get(); }
  /// A path to the open file, for functions that take paths, in this process and in its debugger.
  std::string path_by_descriptor() const;
  /// Throws Error(kPlugin) when the file has been written into since it was opened.
  void require_unchanged() const;

 private:
  FileStamp stamp() const;
  std::string path_, folder_;
  Descriptor file_;
  FileStamp opened_;
};

}  // namespace tmeter::core
