// Holds the content of a stream until it is complete: in memory, and beyond a few MiB in a nameless
// file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/descriptor.hpp"

namespace tmeter::core {

class Spool {
 public:
  /// Throws Error(write_failure(…)).
  void write(std::string_view bytes);
  /// The next piece of at most 64 KiB; empty at the end. Throws as `write`.
  std::string read();
  bool at_end() const { return read_ == size_; }
  /// Forgets everything.
  void clear();

 private:
  void move_to_file();
  void append(std::string_view bytes);
  uint64_t size_ = 0, read_ = 0;
  std::string memory_;
  Descriptor file_;
};

/// A file that is deleted with its descriptor, in $TMPDIR, /tmp or /var/tmp. -1 with errno on
/// failure.
Descriptor nameless_file();

}  // namespace tmeter::core
