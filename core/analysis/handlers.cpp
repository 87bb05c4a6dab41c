#include "core/analysis/handlers.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

template <class Candidate>
void insert(std::vector<Candidate>& list, Candidate added, const std::string& key,
            const std::string& metric) {
  for (const auto& other : list) {
    if (other.plugin != added.plugin && other.handler->priority == added.handler->priority) {
      const auto ids = std::minmax(other.plugin->manifest.id, added.plugin->manifest.id);
      throw Error(ErrorKind::kPlugin, "plugins " + ids.first + " and " + ids.second +
                                          " both handle '" + key + "' for metric '" + metric +
                                          "' at the same priority; leave one out with --plugins=-" +
                                          ids.second);
    }
  }
  list.push_back(added);
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
    return a.handler->priority > b.handler->priority;
  });
}

template <class Map>
void append(const Map& map, std::string_view key, auto& out) {
  const auto it = map.find(key);
  if (it != map.end()) out.insert(out.end(), it->second.begin(), it->second.end());
}

/// Who would answer for this very operator if the one before did not.
void find_overrides(std::vector<OpCandidate>& list) {
  for (auto c = list.begin(); c != list.end(); ++c) {
    const auto other = std::find_if(c, list.end(), [&](const OpCandidate& o) {
      return o.plugin != c->plugin && view(o.handler->op) != "*";
    });
    if (other != list.end()) c->overridden = other->plugin;
  }
}

}  // namespace

HandlerTable::HandlerTable(const std::vector<Plugin*>& plugins) {
  for (auto* p : plugins) {
    for (const auto& h : p->offers().op_handlers) {
      const auto metric = str(h.metric), op = str(h.op);
      insert(ops_[metric][op], OpCandidate{p, &h}, op, metric);
    }
    for (const auto& h : p->offers().module_handlers) {
      const auto metric = str(h.metric), type = str(h.type);
      insert(modules_[metric][type], ModuleCandidate{p, &h}, type, metric);
    }
  }
}

const std::vector<OpCandidate>& HandlerTable::for_node(const std::string& metric,
                                                       const Node& node) {
  auto [it, added] = cache_[metric].try_emplace(CacheKey{node.op.data(), node.overload.data()});
  if (added) {
    if (const auto ops = ops_.find(metric); ops != ops_.end()) {
      if (!node.overload.empty()) append(ops->second, node.full_name(), it->second);
      append(ops->second, node.op, it->second);
      append(ops->second, "*", it->second);
    }
    find_overrides(it->second);
  }
  return it->second;
}

std::vector<ModuleCandidate> HandlerTable::for_module(const std::string& metric,
                                                      std::string_view type) const {
  std::vector<ModuleCandidate> out;
  const auto types = modules_.find(metric);
  if (types == modules_.end()) return out;
  const auto dot = type.rfind('.');
  append(types->second, type, out);
  if (dot != std::string_view::npos) append(types->second, type.substr(dot + 1), out);
  append(types->second, "*", out);
  return out;
}

}  // namespace tmeter::core
