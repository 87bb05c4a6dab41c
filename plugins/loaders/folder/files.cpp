#include "files.hpp"

#include <algorithm>
#include <set>
#include <tmeter/cpp/natural_order.hpp>

#include "../common/shard_index.hpp"

namespace folder {
namespace {

std::string_view folder_of(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == name.npos ? std::string_view() : name.substr(0, slash);
}

bool by_name(const File& a, const File& b) { return tmeter::natural_less(a.name, b.name); }

}  // namespace

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
    std::string name(tmeter::to_view(f.name));
    folders_[std::string(folder_of(name))].push_back({name, f.size});
  }
  for (auto& [folder, files] : folders_) std::sort(files.begin(), files.end(), by_name);
}

const std::vector<File>& Files::in(std::string_view subfolder) const {
  static const std::vector<File> none;
  const auto it = folders_.find(subfolder);
  return it == folders_.end() ? none : it->second;
}

std::vector<std::string> Files::subfolders() const {
  std::set<std::string> found;
  for (const auto& [folder, files] : folders_)
    if (!folder.empty()) found.insert(folder.substr(0, folder.find('/')));
  return {found.begin(), found.end()};
}

const File* Files::find(std::string_view name) const {
  const auto& files = in(folder_of(name));
  const auto it = std::lower_bound(files.begin(), files.end(), File{std::string(name), 0}, by_name);
  return it != files.end() && it->name == name ? &*it : nullptr;
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
