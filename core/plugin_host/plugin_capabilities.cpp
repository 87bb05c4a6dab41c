#include "core/plugin_host/plugin_capabilities.hpp"

#include <tmeter/abi/draft/option_tables.h>

#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/plugin_limits.hpp"

namespace tmeter::core {
namespace {

/// Calls a function of the plugin; an escaped exception becomes an Error.
template <class F>
auto call_plugin(const std::string& what, F&& function) {
  try {
    return function();
  } catch (...) {
    throw Error(ErrorKind::kPlugin, what + ": " + escaped_exception());
  }
}

void keep_texts(TextStore& s, tmeter_metric_desc& m) {
  s.keep({&m.id, &m.title, &m.unit, &m.weight, &m.convention, &m.description});
}
void keep_texts(TextStore& s, tmeter_option_desc& o) {
  s.keep({&o.key, &o.default_value, &o.choices, &o.text});
}
void keep_texts(TextStore& s, tmeter_op_class& c) { s.keep({&c.op, &c.name}); }
void keep_texts(TextStore& s, tmeter_op_handler& h) { s.keep({&h.metric, &h.op}); }
void keep_texts(TextStore& s, tmeter_module_handler& h) {
  s.keep({&h.metric, &h.type});
  s.keep({&h.follows}, plugin_limits::kListBytes);
}
void keep_texts(TextStore& s, tmeter_analysis& a) {
  s.keep({&a.name});
  s.keep({&a.required, &a.produced}, plugin_limits::kListBytes);
}
void keep_texts(TextStore& s, tmeter_tensor_analysis& a) {
  s.keep({&a.name});
  s.keep({&a.produced}, plugin_limits::kListBytes);
}
void keep_texts(TextStore& s, tmeter_shape_rule& r) { s.keep({&r.schema}); }
void keep_texts(TextStore& s, tmeter_backward_rule& r) { s.keep({&r.op}); }
void keep_texts(TextStore& s, tmeter_loader& l) {
  s.keep({&l.name, &l.title, &l.engine});
  if (!l.matches || l.match_count > plugin_limits::kMatches)
    return;  // refused by check_capabilities
  const auto matches = s.keep(std::span(l.matches, l.match_count));
  for (auto& m : matches) s.keep({&m.conditions});
  l.matches = matches.data();
}
void keep_texts(TextStore& s, tmeter_decoder& d) {
  s.keep({&d.encodings}, plugin_limits::kListBytes);
}
void keep_texts(TextStore& s, tmeter_propagator& p) { s.keep({&p.name}); }
void keep_texts(TextStore& s, tmeter_writer& w) { s.keep({&w.name, &w.extension, &w.media_type}); }
void keep_texts(TextStore& s, tmeter_executor& e) { s.keep({&e.name}); }
void keep_texts(TextStore& s, tmeter_observer& o) {
  s.keep({&o.name});
  s.keep({&o.produced}, plugin_limits::kListBytes);
}

/// Copies a list `Table` of `Item`s into `out`. The sizes are those of their first minor version.
template <class Table, class Item>
void read(const PluginInstance& plugin, TextStore& texts, std::string_view id, size_t least_table,
          size_t least_item, std::vector<Item>& out, size_t most = plugin_limits::kItems) {
  const auto& entry = plugin.entry();
  const auto what = "plugin " + std::string(plugin.id()) + ": its table " + std::string(id);
  const auto* offered = static_cast<const Table*>(
      call_plugin(what, [&] { return entry.get_capability(to_abi(id), entry.user); }));
  if (!offered) return;
  const auto table = adopted(offered, least_table, what);
  if (table.count && !table.get) throw Error(ErrorKind::kPlugin, what + " has no `get`");
  if (table.count > most) {
    throw Error(ErrorKind::kPlugin, what + " has " + std::to_string(table.count) +
                                        " items; at most " + std::to_string(most) +
                                        " are accepted");
  }
  std::string name = what + ", item ";  // one buffer for hundreds of items
  const size_t prefix = name.size();
  out.reserve(table.count);
  for (uint32_t i = 0; i < table.count; ++i) {
    name.replace(prefix, name.npos, std::to_string(i));
    const Item* item = call_plugin(name, [&] { return table.get(i, table.user); });
    if (!item) throw Error(ErrorKind::kPlugin, name + " is missing");
    keep_texts(texts, out.emplace_back(adopted(item, least_item, name)));
  }
}

}  // namespace

PluginCapabilities read_capabilities(const PluginInstance& p) {
  PluginCapabilities o;
  auto& texts = *o.texts;
  read<tmeter_metrics>(p, texts, TMETER_CAP_METRICS, TMETER_SIZE_1_0(tmeter_metrics),
                       TMETER_SIZE_1_0(tmeter_metric_desc), o.metrics);
  read<tmeter_options>(p, texts, TMETER_CAP_OPTIONS, TMETER_SIZE_1_0(tmeter_options),
                       TMETER_SIZE_1_0(tmeter_option_desc), o.options);
  read<tmeter_option_tables>(p, texts, TMETER_CAP_OPTION_TABLES, sizeof(tmeter_option_tables),
                             TMETER_SIZE_1_0(tmeter_option_desc), o.option_tables);
  read<tmeter_op_classes>(p, texts, TMETER_CAP_OP_CLASS, TMETER_SIZE_1_0(tmeter_op_classes),
                          TMETER_SIZE_1_0(tmeter_op_class), o.op_classes, plugin_limits::kHandlers);
  read<tmeter_op_handlers>(p, texts, TMETER_CAP_OP_HANDLER, TMETER_SIZE_1_0(tmeter_op_handlers),
                           TMETER_SIZE_1_0(tmeter_op_handler), o.op_handlers,
                           plugin_limits::kHandlers);
  read<tmeter_module_handlers>(
      p, texts, TMETER_CAP_MODULE_HANDLER, TMETER_SIZE_1_0(tmeter_module_handlers),
      TMETER_SIZE_1_0(tmeter_module_handler), o.module_handlers, plugin_limits::kHandlers);
  read<tmeter_analyses>(p, texts, TMETER_CAP_ANALYSIS, TMETER_SIZE_1_0(tmeter_analyses),
                        TMETER_SIZE_1_0(tmeter_analysis), o.analyses);
  read<tmeter_tensor_analyses>(p, texts, TMETER_CAP_TENSOR_ANALYSIS,
                               TMETER_SIZE_1_0(tmeter_tensor_analyses),
                               TMETER_SIZE_1_0(tmeter_tensor_analysis), o.tensor_analyses);
  read<tmeter_shape_rules>(p, texts, TMETER_CAP_SHAPE_RULE, TMETER_SIZE_1_0(tmeter_shape_rules),
                           TMETER_SIZE_1_0(tmeter_shape_rule), o.shape_rules,
                           plugin_limits::kHandlers);
  read<tmeter_backward_rules>(p, texts, TMETER_CAP_BACKWARD_RULE, sizeof(tmeter_backward_rules),
                              sizeof(tmeter_backward_rule), o.backward_rules,
                              plugin_limits::kHandlers);
  read<tmeter_loaders>(p, texts, TMETER_CAP_LOADER, TMETER_SIZE_1_0(tmeter_loaders),
                       TMETER_SIZE_1_0(tmeter_loader), o.loaders);
  read<tmeter_decoders>(p, texts, TMETER_CAP_DECODER, sizeof(tmeter_decoders),
                        sizeof(tmeter_decoder), o.decoders);
  read<tmeter_propagators>(p, texts, TMETER_CAP_PROPAGATOR, TMETER_SIZE_1_0(tmeter_propagators),
                           TMETER_SIZE_1_0(tmeter_propagator), o.propagators);
  read<tmeter_writers>(p, texts, TMETER_CAP_REPORT_WRITER, TMETER_SIZE_1_0(tmeter_writers),
                       TMETER_SIZE_1_0(tmeter_writer), o.writers);
  read<tmeter_executors>(p, texts, TMETER_CAP_EXECUTOR, TMETER_SIZE_1_1(tmeter_executors),
                         TMETER_SIZE_1_1(tmeter_executor), o.executors);
  read<tmeter_observers>(p, texts, TMETER_CAP_OBSERVER, TMETER_SIZE_1_1(tmeter_observers),
                         TMETER_SIZE_1_1(tmeter_observer), o.observers);
  return o;
}

}  // namespace tmeter::core
