// The schemas of operators that plugins have shape rules for, as their manifests say: no plugin is
// opened for them.
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
  Plugin* plugin = nullptr;  // null: no plugin has one
  const std::string* schema = nullptr;
};

/// The rule for this very overload, "acme::mlp.out", else the one for all of them, "acme::mlp".
/// Throws Error(kUsage) if two plugins have one for it: neither takes precedence.
FoundRule find_shape_rule(const Registry& registry, std::string_view op);

/// Schemas by operator, each looked up once. Throws Error(kUsage) when two plugins have different schemas.
class RuleSchemas {
 public:
  /// Null when no plugin has a schema for it.
  const std::string* of(const Registry& registry, std::string_view op);

 private:
  std::map<std::string, const std::string*, std::less<>> known_;
};

}  // namespace tmeter::core
