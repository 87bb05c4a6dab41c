#include "files.hpp"

#include <algorithm>

#include "../common/shard_index.hpp"

namespace folder {

const tmeter_folder_api& Files::api() {
  static const auto& api = tmeter::detail::interface_of<tmeter_folder_api>(TMETER_HOST_FOLDER);
  return api;
}

Files::Files(tmeter_call* call, const tmeter_request* request, const tmeter_source* source)
    : call_(call), request_(request), source_(source) {
  const auto count = api().file_count(source_);
  for (size_t i = 0; i < count; ++i) {
    tmeter_folder_file f{};
    f.struct_size = sizeof f;
    tmeter::check(api().file_at(source_, i, &f));
    files_.push_back({std::string(tmeter::to_view(f.name)), f.size});
  }
}

std::vector<File> Files::in(std::string_view subfolder) const {
  const auto prefix = subfolder.empty() ? std::string() : std::string(subfolder) + "/";
  std::vector<File> found;
  for (const auto& f : files_)
    if (f.name.starts_with(prefix) && f.name.find('/', prefix.size()) == f.name.npos)
      found.push_back(f);
  return found;
}

std::vector<std::string> Files::subfolders() const {
  std::vector<std::string> found;
  for (const auto& f : files_) {
    const auto slash = f.name.find('/');
    if (slash == f.name.npos) continue;
    auto name = f.name.substr(0, slash);
    if (std::find(found.begin(), found.end(), name) == found.end())
      found.push_back(std::move(name));
  }
  return found;
}

const File* Files::find(std::string_view name) const {
  const auto it =
      std::find_if(files_.begin(), files_.end(), [&](const File& f) { return f.name == name; });
  return it == files_.end() ? nullptr : &*it;
}

tmeter::Source Files::open(std::string_view name) const {
  const tmeter_source* file = nullptr;
  tmeter::check(api().open(call_, source_, tmeter::to_abi(name), &file));
  return {call_, file};
}

void Files::add_part(std::string_view name, tmeter_id module, std::string_view path) const {
  tmeter::check(api().add_part(call_, request_, open(name).handle(), module, tmeter::to_abi(path)));
}

bool Files::is_lfs_pointer(const File& file) const {
  constexpr uint64_t kMaxPointer = 1024;
  return file.size > 0 && file.size <= kMaxPointer &&
         loading::is_lfs_pointer(open(file.name).bytes());
}

}  // namespace folder
