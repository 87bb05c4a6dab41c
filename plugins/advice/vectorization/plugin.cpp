// vectorization-advice: the share of the vector unit's lanes that shapes and strides let an
// operator fill, and changes that help. Definitions: docs/conventions.md, "Vectors".
#include <algorithm>
#include <array>
#include <tmeter/cpp/units.hpp>
#include <vector>

#include "plugins/advice/common/savings.hpp"
#include "plugins/common/options.hpp"
#include "plugins/common/wording.hpp"
#include "runs.hpp"

namespace {

using tmeter::Call;
using tmeter::Cell;
using tmeter::Node;
using vectorization::Cause;

constexpr const char* kVectorUse = "vector_use";
/// AVX2, which PyTorch's kernels use on most x86 processors; NEON has 16.
constexpr int64_t kUsualWidth = 32;
/// Operators that fill less are reported, if they do this share of the arithmetic. Our choices.
constexpr double kFull = 0.9, kMinShare = 0.01;
constexpr size_t kNamed = 4;

struct Width {
  int64_t bytes = 0;
  std::string from;
};

Width width_of(const Call& call) {
  double bytes = 0;
  if (const auto own = call.option_int("width"); own > 0)
    return {own, "vectorization-advice.width"};
  if (call.hardware_number("vector.width", bytes) && bytes >= 1 && bytes <= 4096)
    return {static_cast<int64_t>(bytes), "hardware profile " + std::string(call.hardware_name())};
  return {kUsualWidth, "usual for AVX2; --set vectorization-advice.width=64 for AVX-512"};
}

struct PartlyFilled {
  Node node;
  vectorization::Run run;
  int64_t lanes = 0;
  double use = 0, arithmetic = 0;
};

/// "12.30 of attainable 40.00 GFLOP/s when measured"; empty without a measurement.
std::string measured_text(const Node& node, const Call& call) {
  const auto achieved = call.read("achieved_flops", node);
  const auto attainable = call.read("attainable_flops", node);
  if (!achieved.known() || !attainable.known()) return {};
  const auto rate = [](double v) { return tmeter::scaled(v, TMETER_UNIT_OTHER, "FLOP/s").text(); };
  return ", " + rate(achieved.real()) + " of attainable " + rate(attainable.real()) +
         " when measured";
}

std::string places_text(const std::vector<PartlyFilled>& all, const Call& call) {
  return plugins::listed(all.size(), kNamed, [&](size_t i) {
    const auto& p = all[i];
    return plugins::place(p.node) + ": " + std::to_string(p.run.elements) + " " +
           std::string(p.run.type.name()) + " in a row on " + std::to_string(p.lanes) + " lanes, " +
           plugins::percent(p.use) + measured_text(p.node, call);
  });
}

struct Rule {
  Cause cause;
  const char *name, *because, *action;
};
constexpr std::array kRules{
    Rule{
        Cause::kFeatures, "vector-features", "their features leave the last vector partly empty",
        "build these layers with a multiple of the lanes (float32: 8 for AVX2, 16 for AVX-512) and "
        "keep the added features at zero; a type of half the size has twice the lanes to fill"},
    Rule{Cause::kStrides, "vector-strides", "their operands are stored in different orders",
         "call .contiguous() once where several operators read the tensor, or keep the layout: "
         "model.to(memory_format=torch.channels_last)"},
    Rule{Cause::kBroadcast, "vector-broadcast", "an operand repeats after a few elements",
         "put the dims that repeat first, or expand the operand once if it is a constant"}};

void report(const Rule& rule, std::vector<PartlyFilled> found, double all, const Width& width,
            Call& call) {
  double arithmetic = 0, lost = 0;
  for (const auto& p : found) arithmetic += p.arithmetic, lost += p.arithmetic * (1 - p.use);
  if (found.empty() || all <= 0 || lost < kMinShare * all) return;
  std::stable_sort(found.begin(), found.end(), [](const PartlyFilled& a, const PartlyFilled& b) {
    return a.arithmetic * (1 - a.use) > b.arithmetic * (1 - b.use);
  });
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = rule.name;
  f.text = plugins::count_of(found.size(), "operator") + " with " +
           plugins::percent(arithmetic / all) + " of the arithmetic " +
           (found.size() == 1 ? "fills " : "fill ") + plugins::percent(1 - lost / arithmetic) +
           " of vectors of " + std::to_string(width.bytes) + " bytes, because " + rule.because;
  f.evidence = places_text(found, call) + "; width: " + width.from;
  f.action = rule.action;
  for (const auto& p : found) f.about(p.node);
  call.add(f);
}

void run(const tmeter::Graph& graph, Call& call) {
  const auto width = width_of(call);
  call.set_provenance(kVectorUse, TMETER_PROVENANCE_ESTIMATED,
                      "vectors of " + std::to_string(width.bytes) + " bytes (" + width.from + ")");
  const plugins::Layouts layouts(graph);
  std::array<std::vector<PartlyFilled>, kRules.size()> found;
  double all = 0;
  for (const auto& node : graph.nodes()) {
    const double arithmetic =
        2 * call.read("macs", node).real() + call.read("other_flops", node).real();
    all += arithmetic;
    const auto run = vectorization::run_of(node, layouts);
    const auto lanes = run ? vectorization::lanes_of(run->type, width.bytes) : 0;
    if (lanes == 0) continue;
    const double use = vectorization::share_of_lanes(run->elements, lanes);
    call.emit(kVectorUse, TMETER_AXIS_NODE, node.index(), Cell(use));
    for (size_t i = 0; i < kRules.size(); ++i)
      if (use < kFull && arithmetic > 0 && run->cause == kRules[i].cause)
        found[i].push_back({node, *run, lanes, use, arithmetic});
  }
  for (size_t i = 0; i < kRules.size(); ++i)
    report(kRules[i], std::move(found[i]), all, width, call);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.vectorization-advice",
        .version = "1.0.0",
        .description = "Lanes of the vector unit that shapes and strides leave empty",
        .needs = "flops memory",
    }),
    [](tmeter::Registrar& r) {
      r.option(plugins::integer_option(
          "width", "0", 0, 4096,
          "bytes of a vector: 16 (NEON), 32 (AVX2), 64 (AVX-512); 0: from the hardware "
          "profile, or else 32"));
      r.metric({.id = kVectorUse,
                .title = "vector use",
                .unit_kind = TMETER_UNIT_RATIO,
                .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
                .better = TMETER_BETTER_HIGHER,
                .flags = TMETER_METRIC_DETAIL,
                .convention = "share of the vector unit's lanes that the elements in a row of an "
                              "operator fill; for a module, weighted by the bytes that its "
                              "operators write",
                .weight = "written_bytes"});
      r.analysis("vectorization-advice", "macs other_flops written_bytes", kVectorUse, run);
    })
