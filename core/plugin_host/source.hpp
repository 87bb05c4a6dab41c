// The input of a loader: the mapped file with its ZIP directory, and the user's request. These are
// the objects behind `tmeter_source` and `tmeter_request`.
#pragma once
#include <tmeter/abi/loader.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/archive/zip.hpp"
#include "core/base/mapped_file.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/folder_listing.hpp"

namespace tmeter::core {

struct InputRequest {
  std::string name, text;
  int32_t dtype = -1;
  std::vector<int64_t> dims;
  int32_t form = TMETER_INPUT_TENSOR;
  uint32_t items = 0;  // of a list or tuple: the requests that follow it
  std::string value;
};

}  // namespace tmeter::core

struct tmeter_source {
  /// A file, or a folder of files.
  explicit tmeter_source(const std::string& path)
      : file(path, tmeter::core::MappedFile::OrDirectory{}),
        folder_(std::make_shared<const tmeter::core::Folder>(is_folder() ? path + "/." : path)) {
    if (is_folder()) files_ = tmeter::core::list_folder(path);
    open_archive();
  }
  bool is_folder() const { return file.is_directory(); }
  /// The files of a folder, by name.
  const std::vector<tmeter::core::FolderFile>& files() const { return files_; }
  /// The file with this name relative to the folder, opened once. Throws Error(kModel).
  const tmeter_source& inside(std::string_view name) const;
  /// Bytes of the file; of a folder, the bytes of the opened files and their companions.
  uint64_t size() const;
  /// The file `name` in the folder of this one, opened once. Throws Error(kModel).
  const tmeter_source& companion(std::string_view name) const;
  /// Whether it is this file or one of its companions. Links are not followed.
  bool has(const tmeter_source* other) const;

  tmeter::core::MappedFile file;
  std::optional<tmeter::core::ZipArchive> archive;

 private:
  tmeter_source(const tmeter_source& beside, const std::string& name, const std::string& path)
      : file(*beside.folder_, name, path), folder_(beside.folder_) {
    in_folder_ = beside.is_folder() || beside.in_folder_;
    if (const auto slash = path.rfind('/'); name.find('/') != name.npos)
      folder_ = std::make_shared<const tmeter::core::Folder>(path.substr(0, slash) + "/.");
    open_archive();
  }
  const tmeter_source& opened(std::string_view name, const std::string& path) const;
  void open_archive() {
    if (tmeter::core::ZipArchive::looks_like_zip(file.bytes())) archive.emplace(file.bytes());
  }

  std::shared_ptr<const tmeter::core::Folder> folder_;
  std::vector<tmeter::core::FolderFile> files_;
  bool in_folder_ = false;  // a file of a folder: links are checked
  mutable std::map<std::string, std::unique_ptr<tmeter_source>, std::less<>> companions_;
  mutable std::unordered_set<const tmeter_source*> opened_;  // the companions
};

namespace tmeter::core {

/// A file of a folder that is the model, or a module of it: abi/draft/folder.h.
struct FolderPart {
  const tmeter_source* file;
  uint32_t module;  // 0: the whole model
  std::string path;
};

}  // namespace tmeter::core

struct tmeter_request {
  const tmeter_source* source = nullptr;
  bool trusted = false;
  std::vector<tmeter::core::InputRequest> inputs{};
  std::vector<tmeter::core::FolderPart>* parts = nullptr;  // while a folder is loaded
  const tmeter::core::Graph* weights = nullptr;            // while a program is written for them
};
