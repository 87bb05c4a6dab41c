// tmeter.host.source/1 and tmeter.host.request/1: the file and the request that a loader receives.
#include <algorithm>
#include <filesystem>

#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/source.hpp"

const tmeter_source& tmeter_source::companion(std::string_view name) const {
  using tmeter::core::Error, tmeter::core::ErrorKind, tmeter::core::printable;
  const bool plain = !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
                     name.find('/') == name.npos && name.find('\0') == name.npos;
  if (!plain) {
    throw Error(ErrorKind::kModel, "names the file '" + printable(name) +
                                       "', which is not a plain file name in its own folder");
  }
  const auto folder =
      is_folder() ? file.path() : std::filesystem::path(file.path()).parent_path().string();
  if (is_folder() || in_folder_) tmeter::core::require_inside(folder, std::string(name));
  return opened(name, (std::filesystem::path(folder) / name).string());
}
const tmeter_source& tmeter_source::inside(std::string_view name) const {
  if (!is_folder())
    throw tmeter::core::Error(tmeter::core::ErrorKind::kPlugin, "it looks into a file as a folder");
  tmeter::core::require_inside(file.path(), std::string(name));
  return opened(name, (std::filesystem::path(file.path()) / name).string());
}

const tmeter_source& tmeter_source::opened(std::string_view name, const std::string& path) const {
  using tmeter::core::Error, tmeter::core::ErrorKind;
  constexpr size_t kMaxFiles = 10'000;
  auto it = companions_.find(name);
  if (it == companions_.end()) {
    if (companions_.size() >= kMaxFiles)
      throw Error(ErrorKind::kModel, "is spread over more than 10,000 files, tmeter's limit");
    std::unique_ptr<tmeter_source> made(new tmeter_source(*this, std::string(name), path));
    opened_.insert(made.get());
    it = companions_.emplace(name, std::move(made)).first;
  }
  return *it->second;
}

bool tmeter_source::has(const tmeter_source* other) const {
  if (other == this || opened_.contains(other)) return true;
  return is_folder() && std::any_of(companions_.begin(), companions_.end(),
                                    [&](const auto& c) { return c.second->has(other); });
}

uint64_t tmeter_source::size() const {
  uint64_t bytes = file.bytes().size();
  for (const auto& [name, other] : companions_) bytes += other->size();
  return bytes;
}

namespace tmeter::core {
namespace {

tmeter_bytes to_bytes(std::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

tmeter_status entry_at(const tmeter_source* s, size_t i, tmeter_archive_entry* out) {
  if (!s->archive || i >= s->archive->entries().size()) return TMETER_INVALID_ARGUMENT;
  const auto& e = s->archive->entries()[i];
  return fill_struct<tmeter_archive_entry>({0, e.stored, to_abi(e.name), e.size, e.offset}, out,
                                           TMETER_SIZE_1_0(tmeter_archive_entry));
}

tmeter_status find(const tmeter_source* s, tmeter_str name, size_t* out) {
  const auto i = s->archive ? s->archive->find(view(name)) : std::nullopt;
  if (!i) return TMETER_UNSUPPORTED;
  *out = *i;
  return TMETER_OK;
}

tmeter_status read(tmeter_call* call, const tmeter_source* s, size_t i, tmeter_bytes* out) {
  if (!s->archive || i >= s->archive->entries().size()) return TMETER_INVALID_ARGUMENT;
  return guard_callback(
      call, [&]() -> tmeter_status { return *out = to_bytes(s->archive->read(i)), TMETER_OK; });
}

tmeter_status companion(tmeter_call* call, const tmeter_source* s, tmeter_str name,
                        const tmeter_source** out) {
  return guard_callback(
      call, [&]() -> tmeter_status { return *out = &s->companion(view(name)), TMETER_OK; });
}

tmeter_status input_at(const tmeter_request* r, size_t i, tmeter_input_spec* out) {
  if (i >= r->inputs.size()) return TMETER_INVALID_ARGUMENT;
  const auto& x = r->inputs[i];
  return fill_struct<tmeter_input_spec>({0,
                                         x.dtype,
                                         to_abi(x.name),
                                         to_abi(x.text),
                                         {x.dims.data(), x.dims.size()},
                                         x.form,
                                         x.items,
                                         to_abi(x.value)},
                                        out, TMETER_SIZE_1_0(tmeter_input_spec));
}

}  // namespace

const tmeter_source_api* source_interface() {
  static const tmeter_source_api api{
      sizeof(tmeter_source_api),
      0,
      [](const tmeter_source* s) { return to_abi(s->file.path()); },
      [](const tmeter_source* s) { return to_bytes(s->file.bytes()); },
      [](const tmeter_source* s) { return s->archive ? s->archive->entries().size() : size_t{0}; },
      entry_at,
      find,
      read,
      companion};
  return &api;
}

const tmeter_request_api* request_interface() {
  static const tmeter_request_api api{sizeof(tmeter_request_api),
                                      0,
                                      [](const tmeter_request* r) { return r->source; },
                                      [](const tmeter_request* r) -> int32_t { return r->trusted; },
                                      [](const tmeter_request* r) { return r->inputs.size(); },
                                      input_at};
  return &api;
}

}  // namespace tmeter::core
