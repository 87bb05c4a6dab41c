#include "core/config/hardware.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/text.hpp"
#include "core/config/toml_util.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

/// A leaf is a table with `value`. All other tables are searched for leaves.
void flatten(const std::string& path, const toml::table& table, const std::string& prefix,
             HardwareProfile& out) {
  for (const auto& [key, node] : table) {
    const auto name = prefix + std::string(key.str());
    const auto* sub = node.as_table();
    if (!sub) {
      if (prefix.empty() && node.is_string()) continue;  // name, title, and other strings
      toml_error(ErrorKind::kUsage, path, node.source(),
                 "'" + name + "' must be { value = …, unit = \"…\", source = \"…\" }");
    }
    if (!sub->contains("value")) {
      flatten(path, *sub, name + ".", out);
      continue;
    }
    const auto value = (*sub)["value"].value<double>();
    const auto source = (*sub)["source"].value<std::string>();
    if (!value || !std::isfinite(*value) || *value < 0) {
      toml_error(ErrorKind::kUsage, path, node.source(),
                 "'" + name + ".value' must be a number of at least 0");
    }
    if (!source || source->empty()) {
      toml_error(ErrorKind::kUsage, path, node.source(), "'" + name + "' must name its source");
    }
    out.numbers[name] = {*value, (*sub)["unit"].value_or(std::string()), *source};
  }
}

std::string find_profile(const std::string& name, const std::vector<std::string>& folders) {
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) return name;
  for (const auto& folder : folders) {
    const auto file = fs::path(folder) / (name + ".toml");
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  auto names = hardware_names(folders);
  names.insert(names.begin(), "auto");
  const auto meant = name == "cpu" || name == "local" ? "; 'auto' measures this machine's processor"
                                                      : did_you_mean(name, names);
  throw Error(ErrorKind::kUsage,
              "unknown hardware profile '" + name + "'" + meant + "; known: " + joined(names));
}

HardwareProfile profile_of(const toml::table& doc, const std::string& path) {
  HardwareProfile profile;
  profile.name = doc["name"].value_or(fs::path(path).stem().string());
  profile.title = doc["title"].value_or(profile.name);
  flatten(path, doc, "", profile);
  return profile;
}

}  // namespace

HardwareProfile load_hardware(const std::string& name_or_file,
                              const std::vector<std::string>& folders) {
  const auto path = find_profile(name_or_file, folders);
  return profile_of(parse_toml_file(ErrorKind::kUsage, path), path);
}

HardwareProfile parse_hardware(const std::string& text, const std::string& path) {
  return profile_of(parse_toml(ErrorKind::kUsage, text, path), path);
}

std::vector<std::string> hardware_names(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const auto& folder : folders) {
    std::error_code ignored;
    for (const auto& file : fs::directory_iterator(folder, ignored))
      if (file.path().extension() == ".toml") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tmeter::core
