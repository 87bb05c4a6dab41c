#include "core/plugin_host/rule_schemas.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {
namespace {

bool can_be_asked(const Plugin& p) { return !p.library.empty() && p.failure.empty(); }

/// `may_both(one, other)`: whether two plugins may have these schemas.
template <class May>
FoundRule find_exactly(const Registry& registry, std::string_view op, May may_both) {
  FoundRule found;
  for (const auto& plugin : registry.plugins()) {
    if (!can_be_asked(*plugin)) continue;
    const auto& schemas = plugin->manifest.shape_rules;
    const auto schema = std::find_if(schemas.begin(), schemas.end(),
                                     [&](const auto& s) { return op_of_schema(s) == op; });
    if (schema == schemas.end()) continue;
    if (found.plugin && !may_both(*found.schema, *schema)) {
      const auto ids = std::minmax(found.plugin->manifest.id, plugin->manifest.id);
      throw Error(ErrorKind::kUsage, "plugins " + ids.first + " and " + ids.second +
                                         " both have a shape rule for '" + printable(op) +
                                         "'; leave one out with --plugins=-" + ids.second);
    }
    if (!found.plugin) found = {plugin.get(), &*schema};
  }
  return found;
}

template <class May>
FoundRule find(const Registry& registry, std::string_view op, May may_both) {
  const auto found = find_exactly(registry, op, may_both);
  const auto base = op.substr(0, op.find('.'));
  return found.plugin || base == op ? found : find_exactly(registry, base, may_both);
}

}  // namespace

FoundRule find_shape_rule(const Registry& registry, std::string_view op) {
  return find(registry, op, [](const auto&, const auto&) { return false; });
}

const std::string* RuleSchemas::of(const Registry& registry, std::string_view op) {
  auto at = known_.find(op);
  if (at == known_.end()) {
    const auto found = find(registry, op, std::equal_to<std::string>());
    at = known_.emplace(std::string(op), found.schema).first;
  }
  return at->second;
}

}  // namespace tmeter::core
