// The libraries that a library is linked to, as the dynamic linker finds them. A
// sandbox permits reading them before any of their code runs.
#pragma once
#include <string>
#include <vector>

namespace tmeter::core {

struct LinkedLibrary {
  std::string path;
  bool beside = false;  ///< found through $ORIGIN, the folder of the library that needs it
  bool direct = false;  ///< needed by the library itself, not by one of its dependencies
};

/// The libraries that the open `file` needs, directly or indirectly, except the system's; empty if
/// the file is not a library. `folder` is the file's own ("$ORIGIN"). Reads only headers.
std::vector<LinkedLibrary> linked_libraries(int file, const std::string& folder);

/// Their folders, each once: the folder of the name and, for a link, the folder of its target.
std::vector<std::string> linked_folders(int file, const std::string& folder);

}  // namespace tmeter::core
