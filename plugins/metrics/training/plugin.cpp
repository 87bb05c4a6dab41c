// training: what a training step costs – the work of the backward, and what autograd keeps for it.
#include <memory>

#include "conventions.hpp"

namespace {

using tmeter::Call;
using tmeter::Cell;
using tmeter::Finding;
using tmeter::Graph;
using training::Convention;
using training::Gradients;
using training::Settings;

constexpr std::string_view kBackwardMacs =
    "multiply-accumulates of the backward: of each product one of the same size for every factor "
    "that needs a "
    "gradient; fused attention five products";

Settings settings_of(const Call& call) {
  Settings s;
  s.train = call.option_text("mode") == "train";
  s.device =
      call.option_text("device") == "cuda" ? training::Device::kCuda : training::Device::kCpu;
  s.attention = call.option_text("attention") == "math" ? training::Attention::kMath
                                                        : training::Attention::kFused;
  return s;
}

void add_options(tmeter::Registrar& r) {
  const auto choice = [&r](std::string_view key, std::string_view choices, std::string_view text) {
    r.option({.key = key,
              .type = TMETER_OPTION_CHOICE,
              .default_value = choices.substr(0, choices.find(' ')),
              .text = text,
              .choices = choices});
  };
  choice("convention", training::kConventionNames,
         "how FLOPs of a training step are counted: exact, as FlopCounterMode of torch 2.15 "
         "(torch), or by a rule for "
         "language models");
  choice("mode", "train recorded",
         "batch norms and dropout as in training, or as the file was recorded");
  choice("device", "cpu cuda", "whose kernels run: the CPU's or CUDA's");
  choice("attention", "fused math",
         "attention by a fused kernel where there is one, or as products and a softmax");
  r.option({.key = "frozen",
            .default_value = "",
            .text = "parameters that are not trained: module paths or patterns with * and ?, "
                    "separated by commas"});
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
}

void configure(Call& call) {
  const auto text = training::text_of(training::convention_of(call.option_text("convention")));
  for (const auto* id : {"backward_flops", "training_flops"}) call.set_convention(id, text);
}

/// Whether anything can be said; says why not otherwise.
bool has_backward(const Graph& graph, const Gradients& gradients, Call& call) {
  if (graph.nodes().size() == 0) return false;
  for (const auto& t : graph.tensors())
    if (gradients.trainable(t)) return true;
  call.warn("training: no parameter is trainable, so nothing has a backward");
  return true;
}

void find_backward(const Graph& graph, Call& call) {
  const auto convention = training::convention_of(call.option_text("convention"));
  const auto settings = settings_of(call);
  const Gradients gradients(graph, call.option_text("frozen"));
  if (!has_backward(graph, gradients, call)) return;
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
      flops = {Cell::unavailable(), Cell::unavailable()};
    call.emit("backward_macs", TMETER_AXIS_NODE, node.index(), work.backward);
    call.emit("backward_flops", TMETER_AXIS_NODE, node.index(), flops.backward);
    call.emit("training_flops", TMETER_AXIS_NODE, node.index(), flops.step);
  }
}

void register_all(tmeter::Registrar& r) {
  add_options(r);
  add_metrics(r);
  r.configure(configure);
  r.analysis("backward", "macs", "backward_macs backward_flops training_flops", find_backward);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.training",
                       .version = "1.0.0",
                       .description = "Training steps: work of the backward, what autograd keeps",
                       .needs = "flops",
                   }),
                   [](tmeter::Registrar& r) { register_all(r); })
