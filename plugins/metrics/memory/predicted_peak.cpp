// predicted_peak_bytes: the value that measured_peak_bytes will have.
#include <tmeter/cpp/op_class.hpp>
#include <unordered_set>

#include "lifetimes.hpp"
#include "peak.hpp"
#include "tensors.hpp"
#include "workspaces.hpp"

namespace memory {
namespace {

using plugins::Layouts;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Graph;
using tmeter::Node;

/// Bytes that nodes allocate, given strides: a reshape that is not a view allocates a tensor, and
/// `contiguous` of a contiguous tensor does not.
class MadeInARun {
 public:
  MadeInARun(const Layouts& layouts, tmeter::Call& call) : layouts_(layouts), call_(call) {
    for (const auto& node : layouts.copying_reshapes()) copying_.insert(node.index());
  }
  std::optional<Count> operator()(const Node& node) const {
    if (copying_.contains(node.index())) {
      const auto results = results_of(node);
      if (results.complete) return results.bytes();
    }
    return is_idle_contiguous(node) ? Count(0) : made_by(node, call_);
  }

 private:
  bool is_idle_contiguous(const Node& node) const {
    if (tmeter::base_name(node.op()) != "contiguous" ||
        plugins::is_channels_last(node.arg("memory_format")))
      return false;
    const auto* s = node.arg_count() ? layouts_.of(node.arg(0)) : nullptr;
    return s && plugins::is_contiguous(*s);
  }

  const Layouts& layouts_;
  tmeter::Call& call_;
  std::unordered_set<size_t> copying_;
};

/// Strides of every tensor of a large graph take as long as all other figures together.
int64_t threads_of(const Graph& graph, const tmeter::Call& call) {
  constexpr size_t kMaxOperators = 10'000;
  const auto asked = call.option_int("threads");
  if (asked >= 0) return asked;
  return graph.nodes().size() <= kMaxOperators ? 1 : 0;
}

}  // namespace

void predict_peak(const Graph& graph, tmeter::Call& call) {
  const auto tell = [&call](int32_t provenance, std::string_view text) {
    for (const auto id : {kPredictedPeak, kPredictedWorkspace})
      call.set_provenance(id, provenance, text);
  };
  const auto threads = threads_of(graph, call);
  if (threads == 0) {
    return tell(TMETER_PROVENANCE_UNAVAILABLE,
                "predicted on request: --inference, or --set memory.threads=1");
  }
  const Layouts layouts(graph);
  const MadeInARun made(layouts, call);
  const auto shared = [&](const Node& n, size_t result) { return shared_by(n, result, call); };
  const auto l = lifetimes(graph, made, shared, Until::kLastUse);
  const Kernels kernels{threads, call.option_int("channel-block"), &layouts};
  for (const auto& node : graph.nodes()) {
    const size_t i = node.index();
    const auto workspace = workspace_of(node, kernels);
    call.emit(kPredictedWorkspace, TMETER_AXIS_NODE, i,
              workspace == Count(0) ? Cell::zero_by_rule() : Cell(workspace));
    call.emit(kPredictedPeak, TMETER_AXIS_NODE, i,
              l.complete ? Cell(l.alive[i] + workspace) : Cell::unsupported());
  }
  tell(TMETER_PROVENANCE_ESTIMATED,
       "by the allocations of LibTorch's kernels on " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads"));
}

}  // namespace memory
