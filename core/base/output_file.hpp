// An output file that is either complete or absent: written without a name (or, on file systems
// that cannot, under a temporary one in the same folder), synced, and named. An interrupted run
// leaves the old file whole. The new one has the mode and, where the user may give it, the owner of
// the old one. A link stays a link: the file it leads to is replaced, or made. Pipes and
// devices are written elsewhere (core/process/outputs.hpp).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace tmeter::core {

/// The kind of error of a failed write: a full or failing disk is status 4, as for an input that
/// cannot be read; anything else (no such folder, no permission) is wrong usage.
ErrorKind write_failure(int error_number);

class OutputFile {
 public:
  /// Opens the temporary file; throws Error(kUsage) when the folder cannot be written.
  explicit OutputFile(const std::string& path);
  ~OutputFile();  ///< removes the temporary file unless committed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// All throw Error(write_failure(…)).
  void write(std::string_view bytes);
  /// Discards the content.
  void begin_again();
  /// Starts to write to the disk, so that `sync` waits less. Errors show in `sync`.
  void push();
  /// Waits until the data is on the disk. Several files may be synced at once, each on its own
  /// thread.
  void sync();
  /// Gives the file its name; syncs it first if necessary.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what);
  void open_temporary();
  void take_over_mode();
  void give_name();
  std::string path_, temporary_;
  int fd_ = -1;
  uint64_t written_ = 0, pushed_ = 0;  // bytes
  bool nameless_ = false, synced_ = false;
};

}  // namespace tmeter::core
