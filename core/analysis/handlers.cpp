#include "core/analysis/handlers.hpp"

#include <algorithm>
#include <functional>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse_conflict(const Plugin& a, const Plugin& b, const std::string& what) {
  const auto ids = std::minmax(a.manifest.id, b.manifest.id);
  throw Error(ErrorKind::kPlugin, "plugins " + ids.first + " and " + ids.second + " " + what +
                                      "; leave one out with --plugins=-" + ids.second);
}

/// Sorts the candidates for one key by falling priority. Two plugins of one priority are an error.
template <class Candidate>
void sort_by_priority(std::pmr::vector<Candidate>& list, std::string_view key,
                      std::string_view metric) {
  const auto priority = [](const Candidate& c) { return c.handler->priority; };
  std::ranges::stable_sort(list, std::ranges::greater(), priority);
  const auto two = std::ranges::adjacent_find(list, [&](const auto& a, const auto& b) {
    return priority(a) == priority(b) && a.plugin != b.plugin;
  });
  if (two == list.end()) return;
  refuse_conflict(*two->plugin, *std::next(two)->plugin,
                  "both handle '" + std::string(key) + "' for metric '" + std::string(metric) +
                      "' at the same priority");
}

template <class Metrics>
void sort_all_by_priority(Metrics& metrics) {
  for (auto& [metric, keys] : metrics)
    for (auto& [key, list] : keys)
      if (list.size() > 1) sort_by_priority(list, key, metric);
}

template <class Map>
void append(const Map& map, std::string_view key, auto& out) {
  const auto it = map.find(key);
  if (it != map.end()) out.insert(out.end(), it->second.begin(), it->second.end());
}

template <class Map>
void append_pointers(const Map& map, std::string_view key,
                     std::vector<const ModuleCandidate*>& out) {
  const auto it = map.find(key);
  if (it == map.end()) return;
  for (const auto& candidate : it->second) out.push_back(&candidate);
}

/// Notes for each candidate the plugin that it overrides: the next one that names the operator.
void find_overrides(std::vector<OpCandidate>& list) {
  const OpCandidate *next = nullptr,
                    *other = nullptr;  // the next candidate; the next one of another plugin
  for (auto c = list.rbegin(); c != list.rend(); ++c) {
    const auto* overridden = next && next->plugin == c->plugin ? other : next;
    if (overridden) c->overridden = overridden->plugin;
    if (view(c->handler->op) == "*") continue;
    other = overridden;
    next = &*c;
  }
}

}  // namespace

HandlerTable::HandlerTable(const std::vector<Plugin*>& plugins) {
  for (auto* p : plugins) {
    for (const auto& c : p->offers().op_classes) {
      const auto [at, is_new] = classes_.try_emplace(view(c.op), OperatorClass{p, view(c.name)});
      if (!is_new && at->second.name != view(c.name))
        refuse_conflict(*at->second.plugin, *p,
                        "both say what class of work '" + str(c.op) + "' does");
    }
    for (const auto& h : p->offers().op_handlers) {
      const auto metric = view(h.metric), op = view(h.op);
      ops_[metric][op].push_back({p, &h});
    }
    for (const auto& h : p->offers().module_handlers) {
      const auto metric = view(h.metric), type = view(h.type);
      modules_[metric][type].push_back({p, &h, split(view(h.follows), " ")});
    }
  }
  sort_all_by_priority(ops_);
  sort_all_by_priority(modules_);
}

const std::vector<OpCandidate>& HandlerTable::for_node(OfMetric& cache, const std::string& metric,
                                                       const Node& node) {
  auto [it, added] = cache.try_emplace(CacheKey{node.op.data(), node.overload.data()});
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

std::string_view HandlerTable::class_of(const Node& node) const {
  if (classes_.empty()) return {};
  auto at = classes_.find(node.full_name());
  if (at == classes_.end()) at = classes_.find(node.op);
  return at == classes_.end() ? std::string_view() : at->second.name;
}

std::vector<const ModuleCandidate*> HandlerTable::for_module(const std::string& metric,
                                                             std::string_view type) const {
  std::vector<const ModuleCandidate*> out;
  const auto types = modules_.find(metric);
  if (types == modules_.end()) return out;
  const auto dot = type.rfind('.');
  append_pointers(types->second, type, out);
  if (dot != std::string_view::npos) append_pointers(types->second, type.substr(dot + 1), out);
  append_pointers(types->second, "*", out);
  return out;
}

std::vector<const ModuleCandidate*> HandlerTable::of_modules(const std::string& metric) const {
  std::vector<const ModuleCandidate*> out;
  const auto types = modules_.find(metric);
  if (types == modules_.end()) return out;
  for (const auto& [type, list] : types->second)
    for (const auto& candidate : list) out.push_back(&candidate);
  return out;
}

}  // namespace tmeter::core
