// A file mapped read-only. The bytes live as long as the object.
//
// A file that becomes shorter while it is mapped (or whose disk fails) makes reading fault. That
// ends the program at once with a message and status 4, as for any other damaged file: nothing that
// was computed from such a file is worth keeping, and reports are written only after reading.
#pragma once
#include <string>
#include <string_view>

#include "core/base/descriptor.hpp"

namespace tmeter::core {

struct Guard;  // the fault handler's record of a mapping

/// Reports that a file became shorter than its mapping, just before the process ends with the
/// status of an unreadable model. Runs in a signal handler: async-signal-safe calls only. By
/// default it writes to standard error.
using LostFileHandler = void (*)(std::string_view message);
void set_lost_file_handler(LostFileHandler handler);

/// The folder of a file, held open: files beside it are found even if the folder is renamed or
/// replaced.
class Folder {
 public:
  explicit Folder(const std::string& of_file);
  int descriptor() const { return fd_.get(); }

 private:
  Descriptor fd_;
};

class MappedFile {
 public:
  /// Throws Error(kModel) for a missing file, a directory, an empty or unreadable file. The bytes
  /// stay those of the opened file, even if its name is given to another one.
  explicit MappedFile(const std::string& path);
  /// The same, but a directory is accepted, too: it has no bytes.
  struct OrDirectory {};
  MappedFile(const std::string& path, OrDirectory);
  /// The file of this name in the folder. Messages have the name without the folder.
  MappedFile(const Folder& folder, const std::string& name, const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return {data_, size_}; }
  bool is_directory() const { return data_ == nullptr; }
  /// Starts to fetch the bytes in [offset, offset + size), which will be read soon.
  void expect(size_t offset, size_t size) const;
  /// Releases their pages from this process.
  void release(size_t offset, size_t size) const;

 private:
  void map(int file, const std::string& name);

  std::string path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
  Guard* guard_ = nullptr;
};

}  // namespace tmeter::core
