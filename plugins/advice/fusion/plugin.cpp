// fusion-advice: operators that can be fused. Definitions: docs/conventions.md, "Fusion".
#include <algorithm>

#include "fold.hpp"
#include "plugins/common/options.hpp"
#include "plugins/common/wording.hpp"

namespace {

using namespace fusion;
using advice::Saving;
using plugins::count_of;
using tmeter::Finding;

constexpr const char* kCompiled =
    "torch.compile(model) does this (on a CPU, convolutions and linear layers need "
    "TORCHINDUCTOR_FREEZING=1); ONNX Runtime and TensorRT do it when they load a model";

constexpr const char* kFusable = "fusable_bytes";

struct Rule {
  const char* id;
  std::string (*text)(size_t places, std::span<const Saving> savings);
  const char* action;
};

std::string fold_text(size_t n, std::span<const Saving>) {
  return count_of(n, "batch norm") + " can be folded into the " + (n == 1 ? "layer" : "layers") +
         " before " + (n == 1 ? "it" : "them");
}
std::string scale_text(size_t n, std::span<const Saving>) {
  return count_of(n, "scale") + " can be multiplied into the weights of the " +
         (n == 1 ? "layer before it" : "layers before them");
}
std::string epilogue_text(size_t n, std::span<const Saving>) {
  return count_of(n, "activation") + " can be fused into the layer before " +
         (n == 1 ? "it" : "them");
}
std::string attention_text(size_t n, std::span<const Saving>) {
  return count_of(n, "attention") + (n == 1 ? " is" : " are") +
         " computed in separate operators, with all scores in memory";
}
std::string chain_text(size_t n, std::span<const Saving> savings) {
  size_t operators = 0;
  for (const auto& g : savings) operators += g.nodes.size();
  return count_of(operators, "elementwise operator") + " can be fused into " + std::to_string(n);
}
std::string linear_text(size_t n, std::span<const Saving> savings) {
  size_t operators = 0;
  for (const auto& g : savings) operators += g.nodes.size();
  return count_of(operators, "linear layer") + " with shared inputs can be merged into " +
         std::to_string(n);
}

constexpr Rule kFold{"fold-batch-norm", fold_text,
                     "torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn) and fuse_linear_bn_eval "
                     "for each, or torch.fx.experimental.optimization.fuse(model) for all "
                     "convolutions"};
constexpr Rule kScale{
    "fold-scale", scale_text,
    "weight *= scale (one factor for each output), bias = bias * scale + summand; "
    "then remove the multiplication and the addition"};
constexpr Rule kEpilogue{"fuse-activation", epilogue_text, kCompiled};
constexpr Rule kAttention{
    "fuse-attention", attention_text,
    "torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=…, scale=…); without a "
    "fused kernel for these sizes, it computes in separate operators"};
constexpr Rule kChain{"fuse-elementwise", chain_text,
                      "torch.compile(model) compiles each group to one kernel"};
constexpr Rule kLinear{"merge-linear", linear_text,
                       "concatenate their weights and biases (torch.cat), use one linear layer, "
                       "and split or chunk its "
                       "result: both are views"};

void report_rule(const Rule& rule, std::span<const Saving> savings, std::string evidence,
                 Model& model) {
  if (!model.estimator.are_worthwhile(savings, model.call.option_float("min-share"))) return;
  Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = rule.id;
  f.text = rule.text(savings.size(), savings);
  f.evidence = std::move(evidence);
  f.action = rule.action;
  model.estimator.report(f, savings);
  model.call.add(f);
}

/// Removes those whose folded weights would overflow; describes the largest error of the others.
std::string check_numbers(std::vector<Foldable>& norms, const tmeter::Call& call) {
  FoldError worst;
  std::string at;
  size_t overflowing = 0, seen = 0;
  std::erase_if(norms, [&](const Foldable& f) {
    const auto error = fold_error(f, call);
    if (!error) return false;
    if (error->overflows) return ++overflowing > 0;
    if (++seen == 1 || error->relative() > worst.relative())
      worst = *error, at = plugins::place(f.product);
    return false;
  });
  std::string text;
  if (seen > 0)
    text = "folded weights differ from those computed in float64 by at most " +
           tmeter::general(worst.relative(), 2) + " of the largest (" + at + ", " +
           tmeter::general(worst.absolute, 2) + ")";
  if (overflowing > 0)
    text += (text.empty() ? "" : "; ") + count_of(overflowing, "batch norm") +
            " left out because the folded weights would not be finite";
  return text;
}

void emit_bytes(const std::vector<Saving>& savings, Model& model) {
  std::vector<double> bytes(model.graph.nodes().size());
  for (const auto& saving : savings) bytes[saving.nodes.back().index()] += saving.saved.all();
  for (size_t i = 0; i < bytes.size(); ++i)
    model.call.emit(kFusable, TMETER_AXIS_NODE, i,
                    bytes[i] > 0 ? advice::count_cell(bytes[i]) : tmeter::Cell::zero_by_rule());
}

void run(const tmeter::Graph& graph, tmeter::Call& call) {
  if (graph.nodes().size() == 0) return;
  const plugins::Uses uses(graph);
  advice::SavingsEstimator estimator(graph, call);
  Model model{graph, call, uses, estimator};
  std::vector<Saving> all;
  const auto take = [&](const Rule& rule, const std::vector<Saving>& savings,
                        std::string evidence) {
    report_rule(rule, savings, std::move(evidence), model);
    all.insert(all.end(), savings.begin(), savings.end());
  };
  auto norms = foldable_norms(model);
  auto numbers = check_numbers(norms, call);
  take(kFold, fold_savings(norms, model), std::move(numbers));
  take(kEpilogue, epilogues(norms, model), {});
  const auto scaled = scales(model);
  take(kScale, scaled, {});
  auto taken = attentions(scaled, model);
  take(kAttention, taken, {});
  taken.insert(taken.end(), scaled.begin(), scaled.end());
  take(kChain, chains(taken, model), {});
  take(kLinear, parallel_linears(model), {});
  emit_bytes(all, model);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.fusion-advice",
                       .version = "1.0.0",
                       .description = "Operators that can be fused, and the savings",
                       .needs = "roofline",
                   }),
                   [](tmeter::Registrar& r) {
                     r.option(plugins::real_option(
                         "min-share", "0.005", 0, 1,
                         "smallest share of the model's predicted time, or of its "
                         "traffic if that is unknown, that a reported rule saves"));
                     r.metric({.id = kFusable,
                               .title = "fusable",
                               .unit = "B",
                               .unit_kind = TMETER_UNIT_BYTE,
                               .flags = TMETER_METRIC_DETAIL,
                               .convention =
                                   "bytes read and written that the fusions known to fusion-advice "
                                   "would save; a pattern's bytes are at its last operator"});
                     r.analysis("fusion-advice", advice::kSavingsMetrics, kFusable, run);
                   })
