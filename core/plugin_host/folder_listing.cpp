#include "core/plugin_host/folder_listing.hpp"

#include <algorithm>
#include <filesystem>
#include <tmeter/cpp/natural_order.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

constexpr int kMaxDepth = 2;
constexpr size_t kMaxFiles = 100'000;

void list(const fs::path& folder, const std::string& prefix, int depth,
          std::vector<FolderFile>& out) {
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const auto name = it->path().filename().string();
    std::error_code unknown;
    const bool is_link = it->is_symlink(unknown);
    if (it->is_directory(unknown)) {
      if (!is_link && depth < kMaxDepth && !name.starts_with('.'))
        list(it->path(), prefix + name + "/", depth + 1, out);
      continue;
    }
    if (out.size() >= kMaxFiles)
      throw Error(ErrorKind::kModel,
                  "the folder has more than 100,000 files; give the model file inside it");
    const auto size = it->file_size(unknown);
    out.push_back({prefix + name, unknown ? 0 : size, is_link});
  }
  if (failed && depth == 0)
    throw Error(ErrorKind::kModel, "the folder cannot be read: " + failed.message());
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

std::vector<FolderFile> list_folder(const std::string& folder) {
  std::vector<FolderFile> files;
  list(folder, "", 0, files);
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return natural_less(a.name, b.name); });
  return files;
}

std::string blobs_of(const std::string& folder) {
  std::error_code failed;
  auto at = fs::canonical(folder, failed);
  // The folder is a snapshot or inside one.
  for (int level = 0; !failed && level <= kMaxDepth; ++level, at = at.parent_path()) {
    if (at.parent_path().filename() != "snapshots") continue;
    const auto blobs = at.parent_path().parent_path() / "blobs";
    if (fs::is_directory(blobs, failed)) return blobs.string();
  }
  return {};
}

void require_inside(const std::string& folder, const std::string& name) {
  const fs::path relative(name);
  const bool climbs = std::any_of(relative.begin(), relative.end(),
                                  [](const auto& part) { return part == ".." || part == "."; });
  if (name.empty() || relative.is_absolute() || climbs || name.find('\0') != name.npos)
    throw Error(ErrorKind::kModel,
                "names the file '" + printable(name) + "', which is not inside the folder");
  std::error_code failed;
  const auto real = fs::canonical(fs::path(folder) / relative, failed);
  if (failed) return;  // opening it reports the reason
  const auto home = fs::canonical(folder, failed);
  if (is_below(real, home)) return;
  if (const auto blobs = blobs_of(folder); !blobs.empty() && is_below(real, blobs)) return;
  throw Error(ErrorKind::kModel, "'" + printable(name) + "' is a link out of the folder, to " +
                                     printable(real.string()) +
                                     "; give the folder that has the files");
}

}  // namespace tmeter::core
