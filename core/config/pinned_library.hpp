// A plugin's library, opened once and pinned by its descriptor: the same file is checked, hashed,
// described and loaded, even if another file takes its name in between.
#pragma once
#include <string>

#include "core/base/descriptor.hpp"
#include "core/config/library_file.hpp"

namespace tmeter::core {

class PinnedLibrary {
 public:
  /// Throws Error(kPlugin) when the file is missing, not regular or unreadable, or when another user can
  /// change it, its folder, or the folder of a link on the way to it.
  explicit PinnedLibrary(const std::string& library);

  /// Replaces the open file by a sealed copy in memory, which later writes into the file do not change.
  /// Throws Error(kPlugin) when there is no memory for it. Call it before the sandbox is entered.
  void seal();

  /// As it was named, absolute.
  const std::string& path() const { return path_; }
  /// Where the file itself lies, for "$ORIGIN".
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
