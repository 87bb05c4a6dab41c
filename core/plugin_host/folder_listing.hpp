// The files of a model that is a folder: a listing made once, and links checked before they are
// followed.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tmeter::core {

struct FolderFile {
  std::string name;  // relative to the folder: "unet/config.json"
  uint64_t size = 0;
  bool is_link = false;
};

/// Files of the folder and of folders in it, two levels deep, by name. Folders whose name begins
/// with a dot are left out. Throws Error(kModel) when the folder cannot be read or has more than
/// 100,000 files.
std::vector<FolderFile> list_folder(const std::string& folder);

/// The target of links in a Hugging Face cache: the folder `blobs` beside that of the snapshots;
/// empty for any other folder.
std::string blobs_of(const std::string& folder);

/// Throws Error(kModel) for a name that leads out of the folder, by itself or as a link.
void require_inside(const std::string& folder, const std::string& name);

}  // namespace tmeter::core
