#include "peak.hpp"

#include <algorithm>
#include <tmeter/cpp/node_class.hpp>
#include <tmeter/cpp/op_class.hpp>
#include <tmeter/cpp/units.hpp>
#include <unordered_set>

#include "lifetimes.hpp"
#include "plugins/common/wording.hpp"
#include "traffic.hpp"
#include "workspaces.hpp"

namespace memory {
namespace {

using plugins::bytes_text;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Node;

constexpr size_t kTensorsNamed = 4;

std::string name_of(const Storage& s, const tmeter::Graph& graph) {
  return s.maker ? "the output of " + plugins::place(s.maker)
                 : "input " + std::string(graph.input_name(s.input));
}

/// The largest live tensors: "input x 588.00 KiB, the output of conv1 (aten::conv2d) 3.06 MiB".
std::string alive_text(const Lifetimes& l, size_t at, const tmeter::Graph& graph) {
  std::vector<const Storage*> alive;
  for (const auto& s : l.storages)
    if (s.first <= at && at <= s.last && s.bytes > Count(0)) alive.push_back(&s);
  std::stable_sort(alive.begin(), alive.end(),
                   [](const Storage* a, const Storage* b) { return a->bytes > b->bytes; });
  std::string text = "live tensors: ";
  for (size_t i = 0; i < std::min(kTensorsNamed, alive.size()); ++i)
    text += (i ? ", " : "") + name_of(*alive[i], graph) + " " + bytes_text(alive[i]->bytes);
  if (alive.size() > kTensorsNamed)
    text += " and " + std::to_string(alive.size() - kTensorsNamed) + " more";
  return text;
}

}  // namespace

bool counts_in_place(const tmeter::Call& call) {
  return call.option_text("convention") == "torchstat";
}

std::optional<Count> made_by(const Node& node, const tmeter::Call& call) {
  const auto cell = call.read("output_bytes", node);
  const auto worked_out = [&] { return traffic_of(node, call); };
  if (cell.empty() || cell.in_module()) return worked_out().output;
  if (counts_in_place(call) && cell.count() == worked_out().results) return worked_out().output;
  if (cell.is_zero_by_rule()) return Count(0);
  return cell.is_int() ? std::optional<Count>(cell.count()) : std::nullopt;
}

std::optional<size_t> shared_by(const Node& node, size_t result, const tmeter::Call& call) {
  if (tmeter::is_common_op(node.op())) return std::nullopt;
  const auto memory = call.memory_of(node, result);
  return memory.of_argument() ? std::optional(memory.argument) : std::nullopt;
}

void find_peak(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto l = lifetimes(
      graph, [&](const Node& n) { return made_by(n, call); },
      [&](const Node& n, size_t result) { return shared_by(n, result, call); });
  for (size_t i = 0; i < l.alive.size(); ++i)
    call.emit(kPeak, TMETER_AXIS_NODE, i, l.complete ? Cell(l.alive[i]) : Cell::unsupported());
  if (l.alive.empty() || !l.complete) return;
  const size_t at = peak_of(l);
  const auto node = graph.nodes()[at];
  tmeter::Finding finding;
  finding.rule = "memory-peak";
  finding.text = "activations take at most " + bytes_text(l.alive[at]) + ", while " +
                 plugins::place(node) + " runs";
  finding.evidence = alive_text(l, at, graph);
  call.add(finding.about(node));
}

// predicted_peak_bytes: the value that measured_peak_bytes will have.

namespace {

using plugins::Layouts;
using tmeter::Graph;

/// Bytes that nodes allocate, given strides: a reshape that is not a view allocates a tensor, and
/// `contiguous` of a contiguous tensor does not.
class AllocatedInRun {
 public:
  AllocatedInRun(const Layouts& layouts, tmeter::Call& call) : layouts_(layouts), call_(call) {
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

/// Computed only on request, because strides of all tensors of a large graph take as long as all
/// other values.
int64_t threads_of(const Graph& graph, const tmeter::Call& call) {
  constexpr size_t kMaxOperators = 10'000;
  const auto requested = call.option_int("threads");
  if (requested >= 0) return requested;
  return graph.nodes().size() <= kMaxOperators ? 1 : 0;
}

}  // namespace

void predict_peak(const Graph& graph, tmeter::Call& call) {
  const auto set_provenances = [&call](int32_t provenance, std::string_view text) {
    for (const auto id : {kPredictedPeak, kPredictedWorkspace})
      call.set_provenance(id, provenance, text);
  };
  const auto threads = threads_of(graph, call);
  if (threads == 0) {
    return set_provenances(TMETER_PROVENANCE_UNAVAILABLE,
                           "predicted on request: --inference, or --set memory.threads=1");
  }
  const Layouts layouts(graph);
  const AllocatedInRun made(layouts, call);
  const auto shared = [&](const Node& n, size_t result) { return shared_by(n, result, call); };
  const auto l = lifetimes(graph, made, shared, ArgumentLifetime::kLastUse);
  const Kernels kernels{threads, call.option_int("channel-block"), &layouts};
  for (const auto& node : graph.nodes()) {
    const size_t i = node.index();
    const auto workspace = workspace_of(node, kernels);
    call.emit(kPredictedWorkspace, TMETER_AXIS_NODE, i,
              workspace == Count(0) ? Cell::zero_by_rule() : Cell(workspace));
    call.emit(kPredictedPeak, TMETER_AXIS_NODE, i,
              l.complete ? Cell(l.alive[i] + workspace) : Cell::unsupported());
  }
  set_provenances(TMETER_PROVENANCE_ESTIMATED, "by the allocations of LibTorch's kernels on " +
                                                   std::to_string(threads) +
                                                   (threads == 1 ? " thread" : " threads"));
}

}  // namespace memory
