// tmeter.host.backward-rules/0.1: gives the plugin `training` the backward rules of other plugins.
#include <tmeter/abi/draft/backward_rule.h>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/lent_call.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {
namespace {

struct FoundBackwardRule {
  Plugin* plugin = nullptr;
  const tmeter_backward_rule* rule = nullptr;
};

/// Throws Error(kPlugin) if two plugins have a rule for it.
FoundBackwardRule backward_rule_for(const Registry& registry, std::string_view op) {
  FoundBackwardRule found;
  for (const auto& p : registry.plugins()) {
    for (const auto& rule : p->offers().backward_rules) {
      if (view(rule.op) != op) continue;
      if (found.plugin && found.plugin != p.get())
        throw Error(ErrorKind::kPlugin, "plugins " + found.plugin->manifest.id + " and " +
                                            p->manifest.id + " both have a backward rule for '" +
                                            std::string(op) + "'; leave one out with --plugins=-" +
                                            p->manifest.id);
      found = {p.get(), &rule};
    }
  }
  return found;
}

FoundBackwardRule backward_rule_for(const Registry& registry, const Node& node) {
  const auto exact = backward_rule_for(registry, node.full_name());
  return exact.rule ? exact : backward_rule_for(registry, node.op);
}

bool are_within(uint64_t bits, size_t count) { return count >= 64 || bits >> count == 0; }

tmeter_status ask_backward_rule(tmeter_call* c, const tmeter_node* handle, tmeter_backward* out) {
  return guard_callback(c, [&]() -> tmeter_status {
    const auto* asked = from_handle(handle);
    if (c->run.graph && !c->run.graph->has(asked))
      throw Error(ErrorKind::kPlugin, "it asks about a node that the graph does not have");
    const auto& node = *asked;
    const auto found = c->registry ? backward_rule_for(*c->registry, node) : FoundBackwardRule{};
    if (!found.rule) return TMETER_UNSUPPORTED;
    auto& plugin = *found.plugin;
    const auto doing = "while giving the backward of " + std::string(node.op);
    tmeter_backward given{};
    given.struct_size = sizeof given;
    given.wanted = out->wanted;
    {
      const Lent lent(plugin.call, *c);
      const auto status = invoke(plugin.call, doing, [&](auto* call) {
        return found.rule->work(call, handle, &given, found.rule->user);
      });
      if (status == TMETER_UNSUPPORTED) return status;
    }
    const auto fail = [&](const char* why) { throw PluginError(plugin.manifest.id, doing, why); };
    if (given.macs < 0 || given.kept_bytes < 0) fail("its backward rule gives a negative amount");
    if (!are_within(given.keeps_arguments, node.args.size()) ||
        !are_within(given.keeps_results, node.results.size()))
      fail("its backward rule keeps an argument or result that the operator does not have");
    out->macs = given.macs;
    out->kept_bytes = given.kept_bytes;
    out->keeps_arguments = given.keeps_arguments;
    out->keeps_results = given.keeps_results;
    return TMETER_OK;
  });
}

}  // namespace

const void* backward_rules_interface() {
  static const tmeter_backward_rules_api api{sizeof(tmeter_backward_rules_api), 0,
                                             ask_backward_rule};
  return &api;
}

}  // namespace tmeter::core
