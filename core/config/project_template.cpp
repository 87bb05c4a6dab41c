#include "core/config/project_template.hpp"

#include "core/config/toml_util.hpp"

namespace tmeter::core {

ProjectTemplate read_project_template(const std::string& path) {
  const auto table = parse_toml_file(ErrorKind::kUsage, path);
  ProjectTemplate out;
  out.about = table["about"].value_or(std::string());
  out.trial = table["try"].value_or(std::string());
  out.test = table["test"].value_or(std::string());
  if (const auto* files = table["files"].as_array()) {
    for (const auto& f : *files) out.files.push_back(f.value_or(std::string()));
  }
  return out;
}

}  // namespace tmeter::core
