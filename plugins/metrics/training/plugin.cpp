// training: what a training step costs – the work of the backward, and what autograd keeps for it.
#include <algorithm>
#include <tmeter/cpp/units.hpp>

#include "conventions.hpp"
#include "optimizers.hpp"
#include "saved.hpp"

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

constexpr std::string_view kSavedBytes =
    "bytes of the storages that autograd keeps for the backward, each at the first operator that "
    "keeps it; views keep "
    "their base, the model's inputs count, parameters and buffers do not";

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
  choice("optimizer", training::kOptimizerNames, "whose states are counted");
  choice("precision", training::kPrecisionNames,
         "types of gradients and states: of the parameters as recorded, float32, bfloat16, or "
         "bfloat16 with float32 "
         "master weights, gradients and states");
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
  r.metric({.id = "saved_bytes",
            .title = "saved",
            .unit = "B",
            .unit_kind = TMETER_UNIT_BYTE,
            .convention = kSavedBytes});
  const auto bytes = [&r](std::string_view id, std::string_view title, int32_t axis,
                          int32_t aggregation, std::string_view convention) {
    r.metric({.id = id,
              .title = title,
              .unit = "B",
              .unit_kind = TMETER_UNIT_BYTE,
              .axis = axis,
              .aggregation = aggregation,
              .flags = TMETER_METRIC_DETAIL,
              .convention = convention});
  };
  bytes("gradient_bytes", "gradients", TMETER_AXIS_TENSOR, TMETER_AGGREGATE_SUM,
        "bytes of the gradients of trained parameters, by training.precision");
  bytes("optimizer_bytes", "optimizer", TMETER_AXIS_TENSOR, TMETER_AGGREGATE_SUM,
        "bytes that training.optimizer keeps for trained parameters, with master weights, by "
        "training.precision");
  bytes("step_held_bytes", "step holds", TMETER_AXIS_MODEL, TMETER_AGGREGATE_NONE,
        "parameters, buffers and optimizer state, with the saved tensors when the forward ends or "
        "the gradients when "
        "the backward ends, whichever is more; temporaries not counted");
}

void configure(Call& call) {
  const auto text = training::text_of(training::convention_of(call.option_text("convention")));
  for (const auto* id : {"backward_flops", "training_flops"}) call.set_convention(id, text);
  const auto s = settings_of(call);
  call.set_convention(
      "saved_bytes",
      std::string(kSavedBytes) +
          (s.train ? "; in training mode: batch statistics, dropout active" : "; as recorded") +
          (s.device == training::Device::kCuda ? "; CUDA's kernels" : "; the CPU's kernels") +
          (s.attention == training::Attention::kMath ? ", attention as products" : ""));
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

void find_saved(const Graph& graph, Call& call) {
  if (graph.nodes().size() == 0) return;
  const Gradients gradients(graph, call.option_text("frozen"));
  const auto saved = training::saved_tensors(graph, gradients, settings_of(call));
  for (size_t i = 0; i < saved.by_node.size(); ++i) {
    const auto& kept = saved.by_node[i];
    const bool nothing = kept && *kept == tmeter::Count(0);
    call.emit("saved_bytes", TMETER_AXIS_NODE, i,
              nothing ? Cell::zero_by_rule()
              : kept  ? Cell(*kept)
                      : Cell::unsupported());
  }
}

/// Gradients and states go by the tensors alone: a file of weights without a graph has them, too.
void find_states(const Graph& graph, Call& call) {
  const Gradients gradients(graph, call.option_text("frozen"));
  const auto optimizer = call.option_text("optimizer"), precision = call.option_text("precision");
  for (const auto& t : graph.tensors()) {
    if (!t.is_parameter()) continue;
    const auto cost = gradients.trainable(t) ? training::parameter_cost(t, optimizer, precision)
                                             : training::ParameterCost();
    const auto cell = [](tmeter::Count c) {
      return c == tmeter::Count(0) ? Cell::zero_by_rule() : Cell(c);
    };
    call.emit("gradient_bytes", TMETER_AXIS_TENSOR, t.index(), cell(cost.gradient));
    call.emit("optimizer_bytes", TMETER_AXIS_TENSOR, t.index(), cell(cost.states));
  }
}

std::string bytes_text(tmeter::Count bytes) {
  return tmeter::scaled(static_cast<double>(bytes.value()), TMETER_UNIT_BYTE, "B").text();
}

/// Parameters and buffers, each tensor once.
tmeter::Count weight_bytes(const Graph& graph) {
  tmeter::Count sum = 0;
  for (const auto& t : graph.tensors())
    if ((t.is_parameter() || t.is_buffer()) && !t.is_tied()) sum += t.bytes();
  return sum;
}

/// What is there at the two ends of the backward; temporaries come on top.
void find_step(const Graph& graph, Call& call) {
  const auto model = [&](std::string_view id) { return call.read(id, TMETER_AXIS_MODEL, 0); };
  const auto gradients = model("gradient_bytes"), states = model("optimizer_bytes"),
             saved = model("saved_bytes");
  if (call.option_text("precision") != "recorded" || !saved.known() || !gradients.known() ||
      !states.known())
    return;
  const bool whole =
      graph.nodes().size() > 0 && !saved.partial();  // weights alone say nothing of saved tensors
  const auto weights = weight_bytes(graph);
  const auto before = weights + states.count() + saved.count();
  const auto after = weights + states.count() + gradients.count();
  const auto held = std::max(before, after);
  call.emit("step_held_bytes", TMETER_AXIS_MODEL, 0, whole ? Cell(held) : Cell(held).as_partial());
  const std::string at_least = whole ? "" : "at least ";
  const std::string optimizer(call.option_text("optimizer"));
  Finding f;
  f.rule = "training-step";
  f.text = "a training step holds " + at_least + bytes_text(held) + " when the " +
           (before > after ? "forward" : "backward") + " ends, with " + optimizer;
  f.evidence = "weights " + bytes_text(weights) + ", gradients " + bytes_text(gradients.count()) +
               ", optimizer " + bytes_text(states.count()) + ", saved for the backward " +
               (graph.nodes().size() > 0 ? at_least + bytes_text(saved.count())
                                         : "unknown without a graph") +
               "; temporaries of kernels come on top";
  call.add(f);
}

void register_all(tmeter::Registrar& r) {
  add_options(r);
  add_metrics(r);
  r.configure(configure);
  r.analysis("states", "", "gradient_bytes optimizer_bytes", find_states);
  r.analysis("step", "saved_bytes gradient_bytes optimizer_bytes", "step_held_bytes", find_step);
  r.analysis("saved-tensors", "", "saved_bytes", find_saved);
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
