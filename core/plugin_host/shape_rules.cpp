// tmeter.host.shape-rules/1: how loaders reach the shape rules of other plugins.
#include <algorithm>
#include <memory>

#include "core/base/error.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/plugin_host/source.hpp"

namespace tmeter::core {
namespace {

/// "acme::gated_mlp" of "acme::gated_mlp(Tensor x) -> Tensor"
std::string_view op_of(std::string_view schema) { return schema.substr(0, schema.find('(')); }

struct Found {
  Plugin* plugin = nullptr;
  const std::string* schema = nullptr;
};

Found find(const tmeter_request* request, std::string_view op) {
  if (!request->registry) return {};
  for (const auto& plugin : request->registry->plugins()) {
    for (const auto& schema : plugin->manifest.shape_rules) {
      if (op_of(schema) == op) return {plugin.get(), &schema};
    }
  }
  return {};
}

const tmeter_shape_rule* rule_of(const Plugin& plugin, std::string_view op) {
  const auto& rules = plugin.offers().shape_rules;
  const auto it = std::find_if(rules.begin(), rules.end(),
                               [&](const auto& r) { return op_of(view(r.schema)) == op; });
  return it == rules.end() ? nullptr : &*it;
}

void infer_with(const Found& found, std::string_view op, tmeter_builder& builder,
                const std::vector<const tmeter_value*>& args, std::span<tmeter_id> results,
                Registry& registry) {
  auto& plugin = *found.plugin;
  registry.open(plugin);
  const auto* rule = rule_of(plugin, op);
  const auto name = std::string(op);
  if (!rule || !rule->infer)
    throw Error(ErrorKind::kPlugin,
                "plugin " + plugin.manifest.id + " has no shape rule for " + name + " any more");
  builder.call = &plugin.call;
  const auto status = invoke(plugin.call, "while giving the shape of " + name, [&](auto* call) {
    return rule->infer(call, args.data(), args.size(), &builder, results.data(), results.size(),
                       rule->user);
  });
  const bool complete = std::all_of(results.begin(), results.end(),
                                    [&](tmeter_id id) { return builder.builder.peek(id); });
  if (status != TMETER_OK || !complete)
    throw Error(ErrorKind::kPlugin,
                "the shape rule of plugin " + plugin.manifest.id + " gives no result for " + name);
}

tmeter_status infer(tmeter_call* call, const tmeter_request* request, tmeter_str op,
                    tmeter_builder* builder, const tmeter_id* args, size_t count,
                    tmeter_id* results, size_t result_count) {
  return guard_callback(call, [&]() -> tmeter_status {
    const auto found = find(request, view(op));
    if (!found.plugin) return TMETER_UNSUPPORTED;
    std::vector<const tmeter_value*> values;
    for (size_t i = 0; i < count; ++i)
      values.push_back(args[i] ? to_handle(builder->builder.peek(args[i])) : nullptr);
    std::fill_n(results, result_count, tmeter_id{0});
    infer_with(found, view(op), *builder, values, {results, result_count}, *request->registry);
    return TMETER_OK;
  });
}

}  // namespace

const tmeter_shape_rules_api* shape_rules_interface() {
  static const tmeter_shape_rules_api api{
      sizeof(tmeter_shape_rules_api),
      0,
      [](const tmeter_request* r, tmeter_str op) {
        const auto found = find(r, view(op));
        return found.schema ? to_abi(*found.schema) : tmeter_str{};
      },
      [](const tmeter_request*) { return new tmeter_builder; },
      infer,
      [](const tmeter_builder* b, tmeter_id id) { return to_handle(b->builder.peek(id)); },
      [](tmeter_builder* b) { delete b; }};
  return &api;
}

}  // namespace tmeter::core
