#include "sharding.hpp"

#include <algorithm>
#include <numeric>
#include <tmeter/cpp/op_class.hpp>

#include "backward_work.hpp"

namespace training {
namespace {

using tmeter::Count;
using tmeter::OpClass;
using tmeter::Value;

Count sum(const std::vector<Count>& list) {
  return std::accumulate(list.begin(), list.end(), Count(0));
}

/// The largest of n parts.
Count part(Count bytes, int64_t devices) { return (bytes + (devices - 1)) / devices; }

/// A ring passes each part on to all but one (Patarasuk and Yuan, JPDC 69(2), 2009). Divided first,
/// so that nothing overflows.
Count ring(Count bytes, int64_t devices) { return bytes / devices * (devices - 1); }

/// The largest of the modules with their own parameters.
Count largest_module(const tmeter::Graph& graph, const Replica& r) {
  Count largest = 0;
  for (const auto& m : graph.modules()) {
    Count own = 0;
    for (size_t i = 0; i < m.tensor_count(); ++i) own += r.weights[m.tensor(i).index()];
    largest = std::max(largest, own);
  }
  return largest;
}

/// Rajbhandari et al., ZeRO, arXiv:1910.02054, sections 5 and 7.
std::vector<Shard> data_parallel(const tmeter::Graph& graph, const Replica& r, int64_t n) {
  const auto w = sum(r.weights), g = sum(r.gradients), o = sum(r.states), a = sum(r.saved);
  const auto parameters = w - r.buffers;  // buffers are on every device
  const auto reduce_and_gather = ring(g, n) + ring(r.trained_weights, n);
  const auto gathered = n > 1 ? largest_module(graph, r) : Count(0);
  return {
      {"ddp", w + g + o + a, ring(g, n) * 2, "W + G + O + A; all-reduce: 2 (n-1)/n G"},
      {"zero-1", w + g + part(o, n) + a, reduce_and_gather,
       "W + G + O/n + A; reduce-scatter of G and all-gather of trained weights: (n-1)/n each"},
      {"zero-2", w + part(g, n) + part(o, n) + a, reduce_and_gather,
       "W + (G + O)/n + A; reduce-scatter of G and all-gather of trained weights: (n-1)/n each"},
      {"zero-3 (fsdp)", r.buffers + part(parameters, n) + part(g, n) + part(o, n) + a + gathered,
       ring(parameters, n) * 2 + ring(g, n),
       "(parameters + G + O)/n + buffers + A + the largest module; all-gather of parameters twice, "
       "reduce-scatter of G: (n-1)/n each"},
  };
}

/// Matrices of products and look-ups are split; each attention and the products that follow it
/// reduce their result once forward and once backward: Shoeybi et al., Megatron-LM,
/// arXiv:1909.08053, section 3.
Shard tensor_parallel(const tmeter::Graph& graph, const Replica& r, int64_t n,
                      const Settings& settings) {
  std::vector<bool> split(graph.tensors().size());
  Count reduced = 0;
  bool attention = false;
  for (const auto& node : graph.nodes()) {
    const auto kind = tmeter::op_class(node.op());
    if (is_attention(tmeter::base_name(node.op()))) {
      attention = true;
      reduced += bytes_of(node.result(0), settings) * 2;  // one for the attention, one for the MLP
    }
    if (kind != OpClass::kMatmul && kind != OpClass::kEmbedding) continue;
    for (size_t i = 0; i < node.arg_count(); ++i)
      if (const auto t = node.arg(i).tensor(); t && t.is_parameter() && t.shape().rank() >= 2)
        split[t.canonical().index()] = true;
  }
  Shard out{"tensor", sum(r.saved), std::nullopt,
            "matrices of products and look-ups (W + G + O)/n, the rest whole; A at most (A/n with "
            "sequence parallelism)"};
  for (size_t i = 0; i < split.size(); ++i) {
    const auto all = r.weights[i] + r.gradients[i] + r.states[i];
    out.holds += split[i] ? part(all, n) : all;
  }
  if (attention) {
    out.sends = ring(reduced, n) * 2 * 2;  // all-reduces, forward and backward
    out.formula += "; four all-reduces of a hidden state for each attention";
  } else {
    out.formula += "; no attention, so no rule for messages";
  }
  return out;
}

/// Stages of equal work, cut between operators. With as many micro-batches as stages in flight each
/// keeps what is in the graph's batch (one forward, one backward: Narayanan et al., PipeDream,
/// arXiv:1806.03377).
Shard pipeline(const tmeter::Graph& graph, const Replica& r, int64_t n) {
  const auto nodes = graph.nodes().size();
  std::vector<size_t> stage_of(nodes);
  const auto total = static_cast<double>(sum(r.macs).value());
  double before = 0;
  for (size_t i = 0; i < nodes; ++i) {
    const double middle = before + 0.5 * static_cast<double>(r.macs[i].value());
    const double share =
        total > 0 ? middle / total : static_cast<double>(i) / static_cast<double>(nodes);
    stage_of[i] =
        std::min(static_cast<size_t>(share * static_cast<double>(n)), static_cast<size_t>(n - 1));
    before += static_cast<double>(r.macs[i].value());
  }
  const auto stages = static_cast<size_t>(std::min<int64_t>(n, static_cast<int64_t>(nodes)));
  std::vector<Count> holds(static_cast<size_t>(stages) + 1), sends(holds.size());
  std::vector<size_t> last_user(graph.tensors().size(), holds.size());
  const auto slot = [&](size_t stage) { return std::min(stage, holds.size() - 1); };
  for (const auto& node : graph.nodes()) {
    const auto stage = slot(stage_of[node.index()]);
    holds[stage] += r.saved[node.index()];
    const auto use = [&](const Value& v) {
      const auto t = v.tensor();
      if (!t) return;
      const auto index = t.canonical().index();
      if (last_user[index] == stage) return;  // tied weights are on both stages
      last_user[index] = stage;
      holds[stage] += r.weights[index] + r.gradients[index] + r.states[index];
    };
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto value = node.arg(i);
      use(value);
      for (size_t k = 0; k < value.size(); ++k) use(value[k]);
    }
  }
  // A value of one stage that a later one uses passes through all stages between, and its gradient
  // passes back.
  for (size_t s = 0; s < r.tape->storages.size(); ++s) {
    const auto& storage = r.tape->storages[s];
    if (storage.persistent || storage.maker == kNone || r.tape->last_use[s] == kNone) continue;
    const auto from = slot(stage_of[storage.maker]), to = slot(stage_of[r.tape->last_use[s]]);
    if (from == to) continue;
    sends[from] += storage.bytes;
    sends[to] += storage.bytes;
    for (auto i = from + 1; i < to; ++i) sends[i] += storage.bytes * 2;
  }
  return {
      "pipeline", *std::ranges::max_element(holds), *std::ranges::max_element(sends),
      "stages of equal work, the one that holds most and the one that sends most: its W + G + O "
      "+ A; results that a later stage uses, and their gradients"};
}

}  // namespace

std::vector<Shard> shards(const tmeter::Graph& graph, const Replica& replica, int64_t devices,
                          const Settings& settings) {
  auto out = data_parallel(graph, replica, devices);
  if (graph.nodes().size() == 0) return out;
  out.push_back(tensor_parallel(graph, replica, devices, settings));
  out.push_back(pipeline(graph, replica, devices));
  return out;
}

}  // namespace training
