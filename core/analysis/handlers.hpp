// Finds the handlers of an operator or a module type for a metric.
#pragma once
#include <tmeter/abi/op_handler.h>

#include <map>
#include <memory_resource>
#include <string>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {

struct OpCandidate {
  Plugin* plugin;
  const tmeter_op_handler* handler;
  Plugin* overridden = nullptr;  // its handler for the operator is not called
};
struct ModuleCandidate {
  Plugin* plugin;
  const tmeter_module_handler* handler;
  std::vector<std::string> follows;  // metrics; empty: called for every call
};

class HandlerTable {
  struct CacheKey {
    const char *op, *overload;
    bool operator==(const CacheKey&) const = default;
  };
  struct CacheHash {
    size_t operator()(const CacheKey& k) const {
      return std::hash<const void*>()(k.op) * 31 + std::hash<const void*>()(k.overload);
    }
  };

 public:
  using OfMetric = std::unordered_map<CacheKey, std::vector<OpCandidate>, CacheHash>;

  /// Throws Error(kPlugin) if two plugins handle one operator at the same priority, or give it
  /// different classes.
  explicit HandlerTable(const std::vector<Plugin*>& plugins);

  /// The cache of a metric for `for_node`. It lives as long as the table.
  OfMetric& of_metric(const std::string& metric) { return cache_[metric]; }
  /// For `ns::op.overload`, then `ns::op`, then `*`; each by falling priority. Cached per operator:
  /// the names of one graph are interned, so their addresses identify them.
  const std::vector<OpCandidate>& for_node(OfMetric& cache, const std::string& metric,
                                           const Node& node);

  /// Handlers for the qualified type, then for its last part, then for `*`.
  std::vector<const ModuleCandidate*> for_module(const std::string& metric,
                                                 std::string_view type) const;
  /// All handlers of a metric, for every type.
  std::vector<const ModuleCandidate*> of_modules(const std::string& metric) const;
  /// The class that a plugin gives to the operator (the overload's takes precedence); empty: none.
  std::string_view class_of(const Node& node) const;

 private:
  // Names belong to the plugins, which outlive the table.
  using OpsByName =
      std::pmr::unordered_map<std::string_view, std::pmr::vector<OpCandidate>, TextHash>;
  template <class Candidate>
  using ByName = std::pmr::map<std::string_view, std::pmr::vector<Candidate>>;  // plugins in order

  struct OperatorClass {
    const Plugin* plugin;
    std::string_view name;
  };

  std::pmr::monotonic_buffer_resource memory_;  // memory of a thousand small lists
  std::pmr::unordered_map<std::string_view, OperatorClass, TextHash> classes_{
      &memory_};                                              // by operator
  std::pmr::map<std::string_view, OpsByName> ops_{&memory_};  // metric → operator
  std::pmr::map<std::string_view, ByName<ModuleCandidate>> modules_{&memory_};
  std::map<std::string, OfMetric> cache_;
};

}  // namespace tmeter::core
