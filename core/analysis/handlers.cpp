#include "core/analysis/handlers.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse_two(const Plugin& a, const Plugin& b, const std::string& what) {
  const auto ids = std::minmax(a.manifest.id, b.manifest.id);
  throw Error(ErrorKind::kPlugin, "plugins " + ids.first + " and " + ids.second + " " + what +
                                      "; leave one out with --plugins=-" + ids.second);
}

template <class Candidate>
void insert(std::pmr::vector<Candidate>& list, Candidate added, std::string_view key,
            std::string_view metric) {
  for (const auto& other : list) {
    if (other.plugin != added.plugin && other.handler->priority == added.handler->priority) {
      refuse_two(*other.plugin, *added.plugin,
                 "both handle '" + std::string(key) + "' for metric '" + std::string(metric) +
                     "' at the same priority");
    }
  }
  list.push_back(added);
  if (list.size() == 1) return;
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
    return a.handler->priority > b.handler->priority;
  });
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
    for (const auto& c : p->offers().op_classes) {
      const auto [at, is_new] = classes_.try_emplace(view(c.op), GivenClass{p, view(c.name)});
      if (!is_new && at->second.name != view(c.name))
        refuse_two(*at->second.plugin, *p, "both say what class of work '" + str(c.op) + "' does");
    }
    for (const auto& h : p->offers().op_handlers) {
      const auto metric = view(h.metric), op = view(h.op);
      insert(ops_[metric][op], OpCandidate{p, &h}, op, metric);
    }
    for (const auto& h : p->offers().module_handlers) {
      const auto metric = view(h.metric), type = view(h.type);
      insert(modules_[metric][type], ModuleCandidate{p, &h, split(view(h.follows), " ")}, type,
             metric);
    }
  }
}

const std::vector<OpCandidate>& HandlerTable::for_node(OfMetric& known, const std::string& metric,
                                                       const Node& node) {
  auto [it, added] = known.try_emplace(CacheKey{node.op.data(), node.overload.data()});
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
