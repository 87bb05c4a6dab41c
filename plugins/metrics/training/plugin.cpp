// training: the cost of a training step, its backward work and the tensors kept for it.

#include "analyses.hpp"
#include "checkpointing.hpp"
#include "conventions.hpp"
#include "optimizers.hpp"
#include "plugins/common/options.hpp"
#include "settings.hpp"

namespace {

using tmeter::Call;
using tmeter::Cell;
using tmeter::Graph;
using training::Convention;
using training::Gradients;

constexpr std::string_view kBackwardMacs =
    "multiply-accumulates of the backward: of each product one of the same size for every factor "
    "that needs a gradient; fused attention five products";

constexpr std::string_view kSavedBytes =
    "bytes of the storages that autograd keeps for the backward, each at the first operator that "
    "keeps it; views keep their base, the model's inputs count, parameters and buffers do not";

void add_options(tmeter::Registrar& r) {
  r.option(plugins::choice_option(
      "convention", training::kConventionNames,
      "how FLOPs of a training step are counted: exact, as FlopCounterMode of torch 2.15 (torch), "
      "or by a rule for language models"));
  r.option(plugins::choice_option(
      "mode", "train recorded",
      "batch norms and dropout as in training, or as the file was recorded"));
  r.option(plugins::choice_option("device", "cpu cuda", "kernels that run: cpu or cuda"));
  r.option(plugins::choice_option(
      "attention", "fused math",
      "attention by a fused kernel if one exists, or as products and a softmax"));
  r.option(plugins::choice_option("optimizer", training::kOptimizerNames,
                                  "optimizer whose states are counted"));
  r.option(plugins::choice_option(
      "precision", training::kPrecisionNames,
      "types of weights, activations, gradients and states: as recorded, float32, bfloat16, or "
      "bfloat16 with float32 master weights, gradients and states"));
  r.option(plugins::text_option(
      "frozen",
      "parameters that are not trained: module paths or patterns with * and ?, "
      "separated by commas"));
  r.option(
      plugins::real_option("step-time", "0", 0, 1e9,
                           "measured seconds of a step on one device, for mfu and hfu; 0: none"));
  r.option(plugins::integer_option(
      "sequence", "0", 0, 1 << 30,
      "tokens of a sequence for training_flops_per_token; 0: from the first integer input"));
  r.option(plugins::integer_option("devices", "0", 0, 1000000,
                                   "above 0: report the bytes that each of this many devices holds "
                                   "and sends under data, tensor and pipeline parallelism"));
  r.option(plugins::text_option("lora",
                                "LoRA adapters: rank and linear layers, such as "
                                "r:16,targets:q_proj|v_proj; all other parameters are frozen"));
  r.option(plugins::text_option(
      "checkpoint",
      "modules whose forward runs again in the backward instead of being kept: types "
      "or paths, patterns with * and ?, separated by commas"));
}

void add_metrics(tmeter::Registrar& r) {
  const auto metric = [&r](std::string_view id, std::string_view title, std::string_view unit,
                           uint32_t flags, std::string_view convention) {
    r.metric({.id = id,
              .title = title,
              .unit = unit,
              .unit_kind = TMETER_UNIT_OP,
              .flags = flags,
              .convention = convention});
  };
  const auto exact = training::text_of(Convention::kExact);
  metric("backward_macs", "backward MACs", "MAC", TMETER_METRIC_DETAIL, kBackwardMacs);
  metric("backward_flops", "backward FLOPs", "FLOP", 0, exact);
  metric("training_flops", "training FLOPs", "FLOP", 0, exact);
  metric("recomputed_flops", "recomputed FLOPs", "FLOP", TMETER_METRIC_DETAIL,
         "forward FLOPs that training.checkpoint runs again in the backward; a part of "
         "training_flops if the convention counts operators");
  r.metric({.id = "saved_bytes",
            .title = "saved",
            .unit = "B",
            .unit_kind = TMETER_UNIT_BYTE,
            .convention = kSavedBytes});
  const auto bytes = [&r](std::string_view id, std::string_view title,
                          std::string_view convention) {
    r.metric({.id = id,
              .title = title,
              .unit = "B",
              .unit_kind = TMETER_UNIT_BYTE,
              .axis = TMETER_AXIS_TENSOR,
              .flags = TMETER_METRIC_DETAIL,
              .convention = convention});
  };
  bytes("gradient_bytes", "gradients",
        "bytes of the gradients of trained parameters, by training.precision");
  bytes("optimizer_bytes", "optimizer",
        "bytes that training.optimizer keeps for trained parameters, with master weights, by "
        "training.precision");
  const auto share = [&r](std::string_view id, std::string_view title, std::string_view text) {
    r.metric({.id = id,
              .title = title,
              .unit_kind = TMETER_UNIT_RATIO,
              .axis = TMETER_AXIS_MODEL,
              .aggregation = TMETER_AGGREGATE_NONE,
              .better = TMETER_BETTER_HIGHER,
              .flags = TMETER_METRIC_DETAIL,
              .convention = text});
  };
  share(
      "mfu", "model FLOPs utilization",
      "training_flops without recomputed_flops / training.step-time / the hardware profile's peak "
      "of products (Chowdhery et al., arXiv:2204.02311, appendix B)");
  share("hfu", "hardware FLOPs utilization",
        "training_flops / training.step-time / the hardware profile's peak of products");
  r.metric({.id = "training_flops_per_token",
            .title = "training FLOPs per token",
            .unit = "FLOP",
            .unit_kind = TMETER_UNIT_OP,
            .axis = TMETER_AXIS_MODEL,
            .aggregation = TMETER_AGGREGATE_NONE,
            .flags = TMETER_METRIC_DETAIL,
            .convention = training::kTorchtitan});
  r.metric({.id = "trained_params",
            .title = "trained",
            .axis = TMETER_AXIS_TENSOR,
            .flags = TMETER_METRIC_DETAIL,
            .convention = "elements of trained parameters, with the adapters beside a parameter"});
  r.metric({.id = "optimizer_flops",
            .title = "optimizer FLOPs",
            .unit = "FLOP",
            .unit_kind = TMETER_UNIT_OP,
            .axis = TMETER_AXIS_TENSOR,
            .flags = TMETER_METRIC_DETAIL,
            .convention = "operations on elements in training.optimizer's step for trained "
                          "parameters, with the products of Muon; no part of training_flops"});
  r.metric({.id = "step_peak_bytes",
            .title = "step peak",
            .unit = "B",
            .unit_kind = TMETER_UNIT_BYTE,
            .axis = TMETER_AXIS_MODEL,
            .aggregation = TMETER_AGGREGATE_NONE,
            .convention =
                "highest memory of a training step: parameters, buffers, optimizer state, "
                "gradients, activations and gradients on their way; workspaces of kernels "
                "not counted"});
}

void configure(Call& call) {
  const auto text = training::text_of(training::convention_of(call.option_text("convention")));
  for (const auto* id : {"backward_flops", "training_flops"}) call.set_convention(id, text);
  const auto s = training::settings_of(call);
  call.set_convention(
      "saved_bytes",
      std::string(kSavedBytes) +
          (s.train ? "; in training mode: batch statistics, dropout active" : "; as recorded") +
          (s.device == training::Device::kCuda ? "; CUDA's kernels" : "; the CPU's kernels") +
          (s.attention == training::Attention::kMath ? ", attention as products" : ""));
}

/// Whether a step can be computed. Reports the reason if not.
bool has_backward(const Graph& graph, const Gradients& gradients, Call& call) {
  if (graph.nodes().size() == 0) return false;
  bool any = gradients.adapters().any();
  for (const auto& t : graph.tensors()) any = any || gradients.trainable(t);
  if (!any) call.warn("training: no parameter is trainable, so there is no backward");
  return true;
}

void find_backward(const Graph& graph, Call& call) {
  const auto convention = training::convention_of(call.option_text("convention"));
  const auto settings = training::settings_of(call);
  const Gradients gradients(graph, call);
  if (!has_backward(graph, gradients, call)) return;
  const auto regions = training::checkpointed(graph, gradients, settings, call);
  const training::LanguageModel model(graph);
  const bool needs_tokens = convention == Convention::kSixN || convention == Convention::kPalm;
  if (needs_tokens && model.tokens() == tmeter::Count(0))
    call.warn("training.convention=" + std::string(call.option_text("convention")) +
              ": the model has no token ids as input; use exact, torch or megatron");
  for (const auto& node : graph.nodes()) {
    const auto macs = call.read("macs", node);
    const auto work = training::backward_work(node, macs, gradients, settings);
    auto flops = training::flops_of(node, macs, work, convention, model);
    if (needs_tokens && model.tokens() == tmeter::Count(0))
      flops = {Cell::unavailable(), Cell::unavailable(), Cell::zero_by_rule()};
    call.emit("backward_macs", TMETER_AXIS_NODE, node.index(), work.backward);
    call.emit("backward_flops", TMETER_AXIS_NODE, node.index(), flops.backward);
    const bool again = regions.recomputes(static_cast<uint32_t>(node.index()));
    const auto recomputed = again ? flops.forward : Cell::zero_by_rule();
    call.emit("training_flops", TMETER_AXIS_NODE, node.index(),
              training::sum_of(flops.step, recomputed));
    call.emit("recomputed_flops", TMETER_AXIS_NODE, node.index(), recomputed);
  }
}

void register_all(tmeter::Registrar& r) {
  add_options(r);
  add_metrics(r);
  r.configure(configure);
  r.analysis("states", "", "trained_params gradient_bytes optimizer_bytes optimizer_flops",
             training::find_states);
  r.analysis("per-token", "", "training_flops_per_token", training::find_flops_per_token);
  r.analysis("utilization", "training_flops recomputed_flops", "mfu hfu",
             training::find_utilization);
  r.analysis("step", "", "saved_bytes step_peak_bytes", training::find_step);
  r.analysis("step-report", "macs saved_bytes step_peak_bytes", "", training::report_step);
  r.analysis("backward", "macs", "backward_macs backward_flops training_flops recomputed_flops",
             find_backward);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.training",
        .version = "1.0.0",
        .description = "Training steps: work of the backward, memory that autograd keeps",
        .needs = "flops",
    }),
    [](tmeter::Registrar& r) { register_all(r); })
