// The destination of a report, by the name the user gave: a file, which is replaced when the report
// is complete, or a stream, which is written as it is. Standard output and the other inherited
// descriptors are streams under all of their names: /dev/stdout, /dev/fd/3, /proc/self/fd/1, links
// to them, and any name of the file that standard output or error was redirected to.
#pragma once
#include <optional>
#include <string>

namespace tmeter::core {

struct Destination {
  enum class Kind {
    kFile,        ///< a regular file, existing or not
    kDescriptor,  ///< one that tmeter was started with
    kDevice,      ///< a pipe, a terminal, a device: opened by its name
  };
  Kind kind = Kind::kFile;
  std::string path;     ///< as given; empty: standard output
  int descriptor = -1;  ///< of kDescriptor
  bool is_fifo = false;
};

/// Call it before anything else is opened. An empty path is standard output.
Destination find_destination(const std::string& path);

/// Whether a report of this name goes to standard output.
bool is_standard_output(const std::string& path);

}  // namespace tmeter::core
