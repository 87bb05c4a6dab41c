// The libraries that a library is linked to, as the dynamic linker will find them: so that a
// sandbox lets them be read before any of their code runs.
#pragma once
#include <string>
#include <vector>

namespace tmeter::core {

struct LinkedLibrary {
  std::string path;
  bool beside = false;  ///< found by way of $ORIGIN, the folder of the library that needs it
  bool direct = false;  ///< needed by the library itself, not by one that it needs
};

/// Those of the open `file` that are not the system's, and those that they need in turn; nothing
/// for what is no library. `folder` is its own ("$ORIGIN"). Reads headers alone.
std::vector<LinkedLibrary> linked_libraries(int file, const std::string& folder);

/// Their folders, each once: of the name and, where that is a link, of what it leads to.
std::vector<std::string> linked_folders(int file, const std::string& folder);

}  // namespace tmeter::core
