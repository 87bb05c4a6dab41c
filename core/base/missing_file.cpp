#include "core/base/missing_file.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/base/text.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kModelLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/";

/// Names of the files beside it; only the first ones of a large folder.
std::vector<std::string> neighbours(const fs::path& path) {
  constexpr size_t kMaxEntries = 10'000;
  std::vector<std::string> names;
  std::error_code failed;
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, failed), end;
       !failed && it != end && names.size() < kMaxEntries; it.increment(failed))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string export_advice(const std::string& model) {
  return "; of a model with this name `python -m tmeter export " + model +
         " -o model.pt2` makes a file";
}

}  // namespace

std::string missing_file_advice(const std::string& path) {
  constexpr std::string_view kFileUrl = "file://";
  if (path.starts_with(kFileUrl))
    return "; give the path alone: " + printable(path.substr(kFileUrl.size()));
  if (path.find("://") != path.npos) return "; tmeter reads files: download it first";
  if (path == "-") return "; a model is not read from a pipe: save it to disk first";
  if (path.starts_with("~/")) return "; the shell replaces ~ outside of quotes only";
  if (path.find_first_of("*?[") != path.npos) return "; no file matches this pattern";
  for (const std::string_view source : {"hf:", "timm:", "torchvision:"})
    if (path.starts_with(source)) return export_advice(printable(path));
  const fs::path file(path);
  for (const std::string library : {"torchvision.models.", "timm."})
    if (path.starts_with(library) && library.size() < path.size())
      return export_advice(library.substr(0, library.find('.')) + ":" +
                           printable(path.substr(path.rfind('.') + 1)));
  if (const auto near = did_you_mean(file.filename().string(), neighbours(file)); !near.empty())
    return near;
  const bool is_name = path.find_first_not_of(kModelLetters) == path.npos &&
                       !path.starts_with('/') && std::count(path.begin(), path.end(), '/') <= 1;
  return is_name ? export_advice("hf:" + path) : std::string();
}

}  // namespace tmeter::core
