// An output file that is either complete or absent: written without a name (or, on file systems
// that cannot, under a temporary one in the same folder), synced, and named. An interrupted run
// leaves the old file whole. What is there and no regular file (/dev/null, /dev/stdout, a pipe) is
// written to instead of being replaced, and a link stays a link.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace tmeter::core {

/// What a failed write means to the user: a full or failing disk is status 4, as for an input that
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
  /// The disk begins with what it has not been told of, so that `sync` has less to wait for.
  /// Whatever goes wrong shows there.
  void push();
  /// Waits until what was written is on the disk. Several files may do so at once, each on a thread
  /// of its own.
  void sync();
  /// The file gets its name, synced if it is not yet.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what);
  void open_temporary();
  void give_name();
  bool regular() const { return nameless_ || !temporary_.empty(); }
  std::string path_, temporary_;
  int fd_ = -1;
  uint64_t written_ = 0, pushed_ = 0;  // bytes
  bool nameless_ = false, synced_ = false;
};

}  // namespace tmeter::core
