// The files of a model folder.
#pragma once
#include <tmeter/abi/draft/folder.h>

#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "../common/bad_file.hpp"

namespace folder {

using loading::BadFile;
using loading::in_quotes;
using loading::listed;

struct File {
  std::string name;  // relative to the folder
  uint64_t size = 0;
};

class Files {
 public:
  Files(tmeter_call* call, const tmeter_request* request, const tmeter_source* source);

  /// Files by name, in `subfolder` ("unet") or, if that is empty, in the folder itself.
  const std::vector<File>& in(std::string_view subfolder) const;
  /// Folders in it that have files, also further down.
  std::vector<std::string> subfolders() const;
  const File* find(std::string_view name) const;
  /// Throws tmeter::Error for a file that cannot be opened, or leads out of the folder.
  tmeter::Source open(std::string_view name) const;
  /// Makes the host read this file as the model, or as this module of it.
  void add_part(std::string_view name, tmeter_id module, std::string_view path) const;
  /// Whether it is a Git LFS pointer: a few hundred bytes in place of a file.
  bool is_lfs_pointer(const File& file) const;

 private:
  static const tmeter_folder_api& api();
  tmeter_call* call_;
  const tmeter_request* request_;
  const tmeter_source* source_;
  std::map<std::string, std::vector<File>, std::less<>> folders_;
};

}  // namespace folder
