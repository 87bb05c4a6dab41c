// What a loader is given: the mapped file with its ZIP directory, and the user's request. These are
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
  explicit tmeter_source(const std::string& path)
      : file(path), folder_(std::make_shared<const tmeter::core::Folder>(path)) {
    open_archive();
  }
  /// The file `name` in the folder of this one, opened once. Throws Error(kModel).
  const tmeter_source& companion(std::string_view name) const;
  /// Whether it is this file or a companion of it. Nothing is followed.
  bool has(const tmeter_source* other) const { return other == this || opened_.contains(other); }

  tmeter::core::MappedFile file;
  std::optional<tmeter::core::ZipArchive> archive;

 private:
  tmeter_source(const tmeter_source& beside, const std::string& name, const std::string& path)
      : file(*beside.folder_, name, path), folder_(beside.folder_) {
    open_archive();
  }
  void open_archive() {
    if (tmeter::core::ZipArchive::looks_like_zip(file.bytes())) archive.emplace(file.bytes());
  }

  std::shared_ptr<const tmeter::core::Folder> folder_;
  mutable std::map<std::string, std::unique_ptr<tmeter_source>, std::less<>> companions_;
  mutable std::unordered_set<const tmeter_source*> opened_;  // of companions_
};

struct tmeter_request {
  const tmeter_source* source = nullptr;
  bool trusted = false;
  std::vector<tmeter::core::InputRequest> inputs;
};
