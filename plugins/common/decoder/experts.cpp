#include "plugins/common/decoder/experts.hpp"

#include <algorithm>
#include <cmath>
#include <tmeter/cpp/op_class.hpp>
#include <unordered_map>
#include <unordered_set>

#include "plugins/common/decoder/decoder.hpp"

namespace plugins {
namespace {

using tmeter::Count;
using tmeter::Graph;
using tmeter::Module;
using tmeter::Node;
using tmeter::Tensor;

/// Calls `f` for each parameter of the module and of those inside it.
template <class F>
void for_parameters(const Module& m, const F& f) {
  for (size_t i = 0; i < m.tensor_count(); ++i)
    if (const auto t = m.tensor(i); t.is_parameter() && !t.is_tied()) f(t);
  for (size_t i = 0; i < m.child_count(); ++i) for_parameters(m.child(i), f);
}

/// All experts in one tensor: [experts, …, …], and biases [experts, …] of the same module.
std::vector<Tensor> stacked(const Module& within, int64_t experts) {
  std::vector<Tensor> found, flat;
  std::unordered_set<const tmeter_module*> owners;
  for_parameters(within, [&](const Tensor& t) {
    if (t.shape().rank() < 2 || t.shape().front() != experts) return;
    (t.shape().rank() >= 3 ? found : flat).push_back(t);
  });
  for (const auto& t : found) owners.insert(t.owner().handle());
  for (const auto& t : flat)
    if (owners.contains(t.owner().handle()) && t.name().find("bias") != std::string_view::npos)
      found.push_back(t);
  return found;
}

Count elements_inside(const Module& m) {
  Count sum = 0;
  for_parameters(m, [&](const Tensor& t) { sum += t.numel(); });
  return sum;
}

/// One module for each expert: a list of that many children of equal type and size.
bool is_list_of_experts(const Module& list, int64_t experts) {
  if (list.type() != "ModuleList" || list.child_count() != static_cast<size_t>(experts))
    return false;
  const auto size = elements_inside(list.child(0));
  if (size == Count(0)) return false;
  for (size_t i = 1; i < list.child_count(); ++i) {
    const auto child = list.child(i);
    if (child.qualified_type() != list.child(0).qualified_type() || elements_inside(child) != size)
      return false;
  }
  return true;
}

void add_listed(const Module& m, int64_t experts, std::vector<Tensor>& found) {
  if (is_list_of_experts(m, experts))
    for_parameters(m, [&](const Tensor& t) { found.push_back(t); });
  else
    for (size_t i = 0; i < m.child_count(); ++i) add_listed(m.child(i), experts, found);
}

std::vector<Tensor> listed(const Module& within, int64_t experts) {
  std::vector<Tensor> found;
  add_listed(within, experts, found);
  return found;
}

/// Finds the experts in the router's own module, else in its parent.
bool find_experts(const Module& within, Router& router) {
  router.weights = stacked(within, router.experts);
  router.how = "stacked weights";
  if (router.weights.empty()) {
    router.weights = listed(within, router.experts);
    router.how = "a list of identical modules";
  }
  return !router.weights.empty();
}

std::unordered_map<const tmeter_tensor*, const Router*> by_tensor(
    const std::vector<Router>& routers) {
  std::unordered_map<const tmeter_tensor*, const Router*> owner;
  for (const auto& r : routers)
    for (const auto& t : r.weights) owner.emplace(t.handle(), &r);
  return owner;
}

/// Bytes of the chosen experts. For one token the number is exact.
Count read_by(const Router& r, Count bytes, int64_t batch) {
  if (batch == 1) return bytes * r.chosen / r.experts;
  const double chosen = static_cast<double>(r.chosen) / static_cast<double>(r.experts);
  const double share = 1 - std::pow(1 - chosen, static_cast<double>(batch));
  return Count(std::llround(static_cast<double>(bytes.value()) * share));
}

}  // namespace

std::vector<Router> find_routers(const Graph& graph) {
  std::vector<Router> routers;
  for (const auto& n : graph.nodes()) {
    if (tmeter::base_name(n.op()) != "topk" || !n.call()) continue;
    const auto scores = n.arg("self").shape();
    if (scores.empty()) continue;
    Router r{n, scores.back(), n.arg("k").as_int(), {}, {}};
    if (r.experts < 2 || r.chosen < 1 || r.chosen >= r.experts) continue;
    const auto module = n.call().module();
    const bool found =
        find_experts(module, r) || (module.parent() && find_experts(module.parent(), r));
    if (found) routers.push_back(std::move(r));
  }
  return routers;
}

Parameters count_parameters(const Graph& graph, const std::vector<Router>& routers) {
  const auto router_of = by_tensor(routers);
  Parameters p;
  for (const auto& t : graph.tensors()) {
    if (!t.is_parameter() || t.is_tied()) continue;
    p.all += t.numel();
    const auto it = router_of.find(t.handle());
    p.active +=
        it == router_of.end() ? t.numel() : t.numel() * it->second->chosen / it->second->experts;
  }
  return p;
}

Count stored_elements(const Graph& graph) {
  Count elements = 0;
  for (const auto& t : graph.tensors())
    if (t.is_parameter() && !t.is_tied()) elements += t.numel();
  return elements;
}

std::optional<std::vector<ReadBytes>> reads_of(const Graph& graph,
                                               const std::vector<Router>& routers, int64_t batch) {
  const auto router_of = by_tensor(routers);
  std::unordered_set<const tmeter_tensor*> seen;
  std::vector<ReadBytes> out;
  for (const auto& n : graph.nodes()) {
    if (n.op() == "aten::embedding" || runs_once(n)) continue;
    Count sum = 0;
    for (size_t i = 0; i < n.arg_count(); ++i) {
      const auto tensor = n.arg(i).tensor();
      if (!tensor || !tensor.is_parameter()) continue;
      const auto t = tensor.canonical();
      if (!seen.insert(t.handle()).second) continue;
      if (t.dtype().bytes() == 0) return std::nullopt;
      const auto it = router_of.find(t.handle());
      sum += it == router_of.end() ? t.bytes() : read_by(*it->second, t.bytes(), batch);
    }
    if (sum > Count(0)) out.push_back({n, sum});
  }
  return out;
}

std::optional<Count> bytes_read(const Graph& graph, const std::vector<Router>& routers,
                                int64_t batch) {
  const auto reads = reads_of(graph, routers, batch);
  if (!reads) return std::nullopt;
  Count sum = 0;
  for (const auto& r : *reads) sum += r.bytes;
  return sum;
}

}  // namespace plugins
