// Modules and the model: their parameters taken together, each distinct tensor once, as
// module.parameters() does. Buffers and constants have figures of their own only.
#include "stats.hpp"

namespace param_stats {
namespace {

/// Of one module or the model.
struct Rolled {
  Pool pool;
  bool any = false, complete = true;
  size_t last = static_cast<size_t>(-1);  // the canonical tensor taken in last

  void add(const Figures* f, size_t canonical) {
    if (last == canonical) return;
    last = canonical;
    any = true;
    if (f)
      pool.merge(*f);
    else
      complete = false;
  }
};

/// Parameters that share their memory, one after the other.
std::vector<tmeter::Tensor> parameters_of(const tmeter::Graph& graph) {
  std::vector<tmeter::Tensor> out;
  for (const auto& t : graph.tensors())
    if (t.is_parameter() && t.numel() > tmeter::Count(0)) out.push_back(t);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.canonical().index() < b.canonical().index();
  });
  return out;
}

void emit(const Rolled& rolled, int32_t axis, size_t index, tmeter::Call& call) {
  if (!rolled.any) return;
  for (const auto& m : pooled_metrics())
    call.emit(m.spec.id, axis, index,
              rolled.complete ? m.of(rolled.pool) : tmeter::Cell::unavailable());
}

}  // namespace

void roll_up(const tmeter::Graph& graph, tmeter::Call& call) {
  std::vector<Rolled> modules(graph.modules().size());
  Rolled model;
  for (const auto& t : parameters_of(graph)) {
    const size_t canonical = t.canonical().index();
    const auto found = kept().find(canonical);
    const Figures* figures = found == kept().end() ? nullptr : &found->second;
    for (auto m = t.owner(); m; m = m.parent()) modules[m.index()].add(figures, canonical);
    model.add(figures, canonical);
  }
  for (size_t i = 0; i < modules.size(); ++i) emit(modules[i], TMETER_AXIS_MODULE, i, call);
  emit(model, TMETER_AXIS_MODEL, 0, call);
}

}  // namespace param_stats
