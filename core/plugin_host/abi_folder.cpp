// tmeter.host.folder/0.1 and tmeter.host.blueprint/0.1: models in folders, and weights without a
// program.
#include <tmeter/abi/draft/blueprint.h>
#include <tmeter/abi/draft/folder.h>

#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/source.hpp"

namespace tmeter::core {
namespace {

tmeter_status file_at(const tmeter_source* s, size_t i, tmeter_folder_file* out) {
  if (i >= s->files().size()) return TMETER_INVALID_ARGUMENT;
  const auto& f = s->files()[i];
  return fill_struct<tmeter_folder_file>({0, f.is_link, to_abi(f.name), f.size}, out,
                                         sizeof(tmeter_folder_file));
}

tmeter_status open_file(tmeter_call* call, const tmeter_source* s, tmeter_str name,
                        const tmeter_source** out) {
  return guard_callback(
      call, [&]() -> tmeter_status { return *out = &s->inside(view(name)), TMETER_OK; });
}

tmeter_status add_part(tmeter_call* call, const tmeter_request* r, const tmeter_source* file,
                       tmeter_id module, tmeter_str path) {
  return guard_callback(call, [&]() -> tmeter_status {
    if (!r->parts || !file || !r->source->has(file) || file == r->source)
      throw Error(ErrorKind::kPlugin,
                  "it names a part of a folder that is not a file of the folder being loaded");
    r->parts->push_back({file, module, std::string(view(path))});
    return TMETER_OK;
  });
}

tmeter_status module_type(tmeter_builder* b, tmeter_id module, tmeter_str type) {
  if (!is_live(b)) return note_ended_builder(b), TMETER_INVALID_ARGUMENT;
  if (!may_be_used(b->call)) return TMETER_INVALID_ARGUMENT;
  return guard_callback(b->call, [&]() -> tmeter_status {
    b->begin_with_frame();
    return b->builder.module_type(module, view(type)), TMETER_OK;
  });
}

}  // namespace

const void* folder_interface() {
  static const tmeter_folder_api api{
      sizeof(tmeter_folder_api),
      0,
      [](const tmeter_source* s) -> int32_t { return s->is_folder(); },
      [](const tmeter_source* s) { return s->files().size(); },
      file_at,
      open_file,
      add_part};
  return &api;
}

const void* blueprint_interface() {
  static const tmeter_blueprint_api api{
      sizeof(tmeter_blueprint_api), 0,
      [](const tmeter_request* r) { return r->weights ? to_handle(r->weights) : nullptr; },
      module_type};
  return &api;
}

}  // namespace tmeter::core
