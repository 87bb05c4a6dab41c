// allocations: memory per operator as the executor's allocator reports it, and its peak compared
// with the prediction from the graph.
#include <algorithm>
#include <array>
#include <tmeter/cpp/observer.hpp>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/wording.hpp"

namespace {

using plugins::bytes_text;
using tmeter::Call;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Graph;
using tmeter::ObserverCall;

constexpr std::string_view kPeak = "measured_peak_bytes";
constexpr double kMinDifference = 0.1;  // smallest reported difference

const std::array<tmeter::MetricSpec, 4> kMetrics{{
    {.id = kPeak,
     .title = "peak, measured",
     .unit = "B",
     .unit_kind = TMETER_UNIT_BYTE,
     .aggregation = TMETER_AGGREGATE_MAX,
     .convention =
         "largest number of allocated bytes while an operator runs, with workspaces of kernels and "
         "the model's inputs, without parameters; the value of a module is the largest inside"},
    {.id = "allocated_bytes",
     .title = "allocated",
     .unit = "B",
     .unit_kind = TMETER_UNIT_BYTE,
     .flags = TMETER_METRIC_DETAIL,
     .convention = "bytes allocated while an operator runs, in total"},
    {.id = "freed_bytes",
     .title = "freed",
     .unit = "B",
     .unit_kind = TMETER_UNIT_BYTE,
     .flags = TMETER_METRIC_DETAIL,
     .convention = "bytes freed while an operator runs and after it, up to the next one"},
    {.id = "workspace_bytes",
     .title = "workspace",
     .unit = "B",
     .unit_kind = TMETER_UNIT_BYTE,
     .aggregation = TMETER_AGGREGATE_MAX,
     .flags = TMETER_METRIC_DETAIL,
     .convention =
         "bytes that an operator needs temporarily: largest level while it runs - max(level "
         "before, level after)"},
}};

struct Use {
  int64_t peak = 0, allocated = 0, freed = 0, workspace = 0;
  bool ran = false;
};

int64_t bytes_in(const tmeter::Value& value) {
  if (value.is_tensor()) return value.bytes().value();
  int64_t bytes = 0;
  for (size_t i = 0; i < value.size(); ++i) bytes += bytes_in(value[i]);
  return bytes;
}

int64_t input_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto input : graph.inputs()) bytes += bytes_in(input);
  return bytes;
}

class Allocations final : public tmeter::Observer {
 public:
  void begin(const Graph& graph, ObserverCall& call) override {
    inputs_ = input_bytes(graph);
    uses_.resize(graph.nodes().size());
    call.want(TMETER_RUN_MEMORY, 0, 1);
  }

  void event(const tmeter_event& e, ObserverCall&) override {
    switch (e.kind) {
      case TMETER_EVENT_RUN_BEGIN:
        level_ = 0;
        std::fill(uses_.begin(), uses_.end(), Use{});
        break;
      case TMETER_EVENT_OP_BEGIN:
        now_ = &uses_[tmeter::Node(e.node).index()];
        now_->ran = true;
        before_ = highest_ = level_;
        break;
      case TMETER_EVENT_OP_END:
        now_->peak = highest_;
        now_->workspace = highest_ - std::max(before_, level_);
        break;
      case TMETER_EVENT_ALLOCATE:
        level_ += e.bytes;
        highest_ = std::max(highest_, level_);
        if (now_) now_->allocated += e.bytes;
        break;
      case TMETER_EVENT_FREE:
        level_ -= e.bytes;
        if (now_) now_->freed += e.bytes;
        break;
      case TMETER_EVENT_RUN_END:
        complete_ = true;
        break;
      default:
        break;
    }
  }

  void end(const Graph&, ObserverCall& call) override {
    if (!complete_) {
      const auto why = std::string(call.stopped());
      set_provenances(
          call, TMETER_PROVENANCE_UNAVAILABLE,
          "no run that observes memory was completed" + (why.empty() ? why : "; " + why));
      return;
    }
    for (size_t i = 0; i < uses_.size(); ++i) emit(uses_[i], i, call);
    set_provenances(call, TMETER_PROVENANCE_MEASURED,
                    "one run on " + std::string(call.fact("device")) +
                        ", reported by the allocator of " + std::string(call.fact("engine")));
  }

 private:
  static void set_provenances(const Call& call, int32_t provenance, const std::string& text) {
    for (const auto& m : kMetrics) call.set_provenance(m.id, provenance, text);
  }
  void emit(const Use& use, size_t node, const Call& call) const {
    const std::array<Count, 4> values{Count(use.peak) + inputs_, use.allocated, use.freed,
                                      use.workspace};
    for (size_t i = 0; i < values.size(); ++i) {
      // Operators that are not executed need none; negative levels are measurement errors.
      const auto value = std::max<int64_t>(values[i].value(), 0);
      const auto cell = use.ran ? Cell(Count(value)) : Cell::zero_by_rule();
      call.emit(kMetrics[i].id, TMETER_AXIS_NODE, node, cell);
    }
  }

  int64_t inputs_ = 0;
  int64_t level_ = 0, before_ = 0, highest_ = 0;  // without the inputs, so that no sum overflows
  std::vector<Use> uses_;
  Use* now_ = nullptr;
  bool complete_ = false;
};

/// Names the operator with the largest workspace.
std::string largest_workspace(const Graph& graph, const Call& call) {
  int64_t most = 0;
  std::string where;
  for (const auto node : graph.nodes()) {
    const auto bytes = call.read("workspace_bytes", node).count().value();
    if (bytes <= most) continue;
    most = bytes;
    where = std::string(node.op()) + " of " + std::string(node.call().module().path());
  }
  if (where.empty()) return "no operator needs a workspace";
  return "the largest workspace is that of " + where + ", " + bytes_text(static_cast<double>(most));
}

/// Compares the predicted peak with the measured one.
void compare(const Graph& graph, Call& call) {
  const auto measured = call.read(kPeak, TMETER_AXIS_MODEL, 0);
  const auto predicted = call.read("predicted_peak_bytes", TMETER_AXIS_MODEL, 0);
  if (!measured.is_number() || !predicted.is_number() || predicted.real() <= 0) return;
  const double error = measured.real() / predicted.real() - 1;
  if (error > -kMinDifference && error < kMinDifference) return;
  tmeter::Finding f;
  f.rule = "peak-differs";
  f.text = "peak memory is " + plugins::percent(error < 0 ? -error : error) +
           (error < 0 ? " less" : " more") + " than predicted from the graph";
  f.evidence = "measured " + bytes_text(measured.real()) + ", predicted " +
               bytes_text(predicted.real()) + "; " + largest_workspace(graph, call);
  call.add(f);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.allocations",
                       .version = "1.0.0",
                       .description = "Measured memory of a run, operator by operator",
                   }),
                   [](tmeter::Registrar& r) {
                     for (const auto& m : kMetrics) r.metric(m);
                     tmeter::observer<Allocations>(
                         r, "allocations",
                         "measured_peak_bytes allocated_bytes freed_bytes workspace_bytes");
                     r.analysis("peaks", kPeak, "", compare);
                   })
