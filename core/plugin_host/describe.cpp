#include "core/plugin_host/describe.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/interfaces.hpp"

namespace tmeter::core {
namespace {

template <class Table>
const Table* capability(const tmeter_plugin_entry_v1& e, std::string_view id) {
  return static_cast<const Table*>(e.get_capability({id.data(), id.size()}));
}

LoaderManifest describe_loader(const tmeter_loader& l) {
  LoaderManifest m{str(l.name), str(l.title), {}};
  for (uint32_t i = 0; i < l.match_count; ++i)
    m.matches.push_back({str(l.matches[i].conditions), l.matches[i].score});
  return m;
}

void add_handled(Manifest& m, const std::string& metric, const std::string& what) {
  const bool own = std::find(m.metrics.begin(), m.metrics.end(), metric) != m.metrics.end();
  const bool listed = std::find(m.handles.begin(), m.handles.end(), what) != m.handles.end();
  if (!own && !listed && what != "*") m.handles.push_back(what);
}

void describe_handlers(const tmeter_plugin_entry_v1& e, Manifest& m) {
  if (const auto* t = capability<tmeter_op_handlers>(e, TMETER_CAP_OP_HANDLER)) {
    for (uint32_t i = 0; i < t->count; ++i) {
      const auto op = str(t->get(i)->op);
      add_handled(m, str(t->get(i)->metric), op.substr(0, op.find('.')));
    }
  }
  if (const auto* t = capability<tmeter_module_handlers>(e, TMETER_CAP_MODULE_HANDLER)) {
    for (uint32_t i = 0; i < t->count; ++i)
      add_handled(m, str(t->get(i)->metric), str(t->get(i)->type));
  }
}

}  // namespace

Manifest describe(const tmeter_plugin_entry_v1& e) {
  Manifest m;
  m.id = str(e.info->id);
  m.name = str(e.info->name);
  m.version = str(e.info->version);
  m.description = str(e.info->description);
  m.needs = split(str(e.info->requires_), " ");
  m.rights = str(e.info->rights);
  m.abi_minor = e.abi_minor_required;
  if (e.init(host_table(), {}) != TMETER_OK) {
    throw Error(ErrorKind::kPlugin, "plugin " + m.id + " could not be started (its init failed)");
  }
  if (const auto* t = capability<tmeter_metrics>(e, TMETER_CAP_METRICS)) {
    for (uint32_t i = 0; i < t->count; ++i) m.metrics.push_back(str(t->get(i)->id));
  }
  describe_handlers(e, m);
  if (const auto* t = capability<tmeter_shape_rules>(e, TMETER_CAP_SHAPE_RULE)) {
    for (uint32_t i = 0; i < t->count; ++i) m.shape_rules.push_back(str(t->get(i)->schema));
  }
  if (const auto* t = capability<tmeter_options>(e, TMETER_CAP_OPTIONS)) {
    for (uint32_t i = 0; i < t->count; ++i) m.options.push_back(str(t->get(i)->key));
  }
  if (const auto* t = capability<tmeter_loaders>(e, TMETER_CAP_LOADER)) {
    for (uint32_t i = 0; i < t->count; ++i) m.loaders.push_back(describe_loader(*t->get(i)));
  }
  if (const auto* t = capability<tmeter_propagators>(e, TMETER_CAP_PROPAGATOR)) {
    for (uint32_t i = 0; i < t->count; ++i) m.propagators.push_back(str(t->get(i)->name));
  }
  if (const auto* t = capability<tmeter_writers>(e, TMETER_CAP_REPORT_WRITER)) {
    for (uint32_t i = 0; i < t->count; ++i) {
      const auto& w = *t->get(i);
      m.writers.push_back({str(w.name), str(w.extension), str(w.media_type)});
    }
  }
  return m;
}

}  // namespace tmeter::core
