// An output file that is either complete or absent: written under a temporary name in the same
// folder, synced, and renamed. An interrupted run leaves the old file whole.
#pragma once
#include <string>
#include <string_view>

namespace tmeter::core {

class OutputFile {
 public:
  /// Opens the temporary file; throws Error(kUsage) when the folder cannot be written.
  explicit OutputFile(const std::string& path);
  ~OutputFile();  ///< removes the temporary file unless committed
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Error(kUsage) when the disk is full or the write fails.
  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what);
  std::string path_, temporary_;
  int fd_ = -1;
};

}  // namespace tmeter::core
