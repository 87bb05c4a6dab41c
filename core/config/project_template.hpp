// The template of a new plugin, by kind: share/tmeter/template/KIND/project.toml beside the source
// (sdk/template). In every file, "@name@" is replaced by the new plugin's name.
#pragma once
#include <string>
#include <vector>

namespace tmeter::core {

struct ProjectTemplate {
  std::string about, trial;        // what the plugin does; a command line that shows it
  std::string test;                // CMake
  std::vector<std::string> files;  // files that the test needs: in the kind's folder or in common/
};

/// Throws Error(kUsage) when the file is missing or no such table.
ProjectTemplate read_project_template(const std::string& path);

}  // namespace tmeter::core
