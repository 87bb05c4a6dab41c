// Rules of plugins for operators, called by other plugins: shapes of results, and the backward.
// The schemas of shape rules come from manifests: no plugin is opened for them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/config/manifest.hpp"

namespace tmeter::core {

struct Plugin;
class Registry;

/// "acme::gated_mlp" of "acme::gated_mlp(Tensor x) -> Tensor"
inline std::string_view op_of_schema(std::string_view schema) {
  return schema.substr(0, schema.find('('));
}

struct FoundRule {
  Plugin* plugin = nullptr;  // null: no plugin has a rule
  const std::string* schema = nullptr;
};

/// The rule for this overload, "acme::mlp.out", else the rule for all overloads, "acme::mlp".
/// Throws Error(kUsage) if two plugins have a rule for it, because neither takes precedence.
FoundRule find_shape_rule(const Registry& registry, std::string_view op);

/// Schemas by operator, each looked up once. Throws Error(kUsage) when two plugins have different
/// schemas.
class RuleSchemas {
 public:
  /// Null when no plugin has a schema for it.
  const std::string* of(const Registry& registry, std::string_view op);

 private:
  std::map<std::string, const std::string*, std::less<>> schemas_;
};

}  // namespace tmeter::core
