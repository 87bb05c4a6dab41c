// pruning-advice: the share of weights that can be pruned by loss, weak filters and heads, and 2:4
// patterns. Definitions: docs/conventions.md, "Pruning".
#include "findings.hpp"
#include "plugins/common/options.hpp"

namespace {

using namespace pruning;

struct Run {
  Settings settings;
  Collection collection;

  void start(tmeter::Call& call) {
    settings = {call.option_float("max-loss"), call.option_int("head-size")};
    collection.weights.clear();
    collection.all = Magnitudes(false);
  }
};

struct Column {
  std::string_view id, title;
  int32_t unit, better;
  uint32_t flags;
  std::string_view convention;
};

constexpr std::array<Column, 5> kColumns{{
    {"loss_at_50", "loss at 50 %", TMETER_UNIT_RATIO, TMETER_BETTER_LOWER, 0,
     "L2 norm of the half of the weights with the smallest magnitudes, divided by that of all; "
     "magnitudes by the upper 16 bits of their float32 pattern"},
    {"loss_at_90", "loss at 90 %", TMETER_UNIT_RATIO, TMETER_BETTER_LOWER, TMETER_METRIC_DETAIL,
     "L2 norm of the 90 % of the weights with the smallest magnitudes, divided by that of all"},
    {"kept_2_4", "2:4 keeps", TMETER_UNIT_RATIO, TMETER_BETTER_HIGHER, 0,
     "share of the sum of squares in the two largest of each four weights along the inputs; empty "
     "if the number of inputs is not a multiple of four"},
    {"dead_filters", "dead filters", TMETER_UNIT_COUNT, TMETER_BETTER_LOWER, 0,
     "filters (outputs) whose L2 norm is 0 or below a millionth of the median filter's"},
    {"low_filters", "weak filters", TMETER_UNIT_RATIO, TMETER_BETTER_LOWER, TMETER_METRIC_DETAIL,
     "share of the filters, without dead ones, whose L2 norm is below a tenth of the median"},
}};

void register_all(tmeter::Registrar& r) {
  const auto run = std::make_shared<Run>();
  r.configure([run](tmeter::Call& call) { run->start(call); });
  for (const auto& c : kColumns)
    r.metric(
        {.id = c.id,
         .title = c.title,
         .unit_kind = c.unit,
         .axis = TMETER_AXIS_TENSOR,
         .aggregation = c.unit == TMETER_UNIT_COUNT ? TMETER_AGGREGATE_SUM : TMETER_AGGREGATE_NONE,
         .better = c.better,
         .flags = TMETER_METRIC_TENSORS | c.flags,
         .convention = c.convention});
  r.option(
      plugins::real_option("max-loss", "0.1", 0, 1,
                           "largest loss of L2 norm by pruning: 0.1 is 1 % of the weights' power"));
  r.option(plugins::integer_option("head-size", "0", 0, 1 << 20,
                                   "features of an attention head; 0: as recorded in the file"));
  r.tensor_analysis(
      "pruning", "loss_at_50 loss_at_90 kept_2_4 dead_filters low_filters",
      [](const tmeter::Tensor& t, tmeter::Call&) { return is_weight(t); },
      [run](const tmeter::TensorPart& part, tmeter::Call&) {
        return make_state(part, run->collection);
      });
  r.analysis("pruning-advice", "macs", "", [run](const tmeter::Graph& graph, tmeter::Call& call) {
    if (!run->collection.weights.empty())
      report_findings(run->collection, run->settings, graph, call);
  });
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.pruning-advice",
                       .version = "1.0.0",
                       .description = "Weights, filters and heads that can be pruned, and the loss",
                       .needs = "flops",
                   }),
                   [](tmeter::Registrar& r) { register_all(r); })
