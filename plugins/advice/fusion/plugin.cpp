// fusion-advice: operators that could be one. Definitions: docs/conventions.md, "Fusion".
#include <algorithm>
#include "plugins/common/wording.hpp"
#include "plugins/common/wording.hpp"

#include "fold.hpp"

namespace {

using namespace fusion;
using advice::Gain;
using plugins::count_of;
using tmeter::Finding;

constexpr const char* kCompiled =
    "torch.compile(model) does it; on a CPU for convolutions and linear layers with "
    "TORCHINDUCTOR_FREEZING=1; ONNX Runtime and TensorRT do it when they load a model";

constexpr const char* kFusable = "fusable_bytes";

struct Rule {
  const char* id;
  std::string (*text)(size_t places, std::span<const Gain> gains);
  const char* action;
};

std::string fold_text(size_t n, std::span<const Gain>) {
  return count_of(n, "batch norm") + " can be folded into the " + (n == 1 ? "layer" : "layers") +
         " before " + (n == 1 ? "it" : "them");
}
std::string scale_text(size_t n, std::span<const Gain>) {
  return count_of(n, "scale") + " can be multiplied into the weights of the " +
         (n == 1 ? "layer before it" : "layers before them");
}
std::string epilogue_text(size_t n, std::span<const Gain>) {
  return count_of(n, "activation") + " could be done while the layer before writes its result";
}
std::string attention_text(size_t n, std::span<const Gain>) {
  return count_of(n, "attention") + (n == 1 ? " is" : " are") +
         " written out, with all scores in memory";
}
std::string chain_text(size_t n, std::span<const Gain> gains) {
  size_t operators = 0;
  for (const auto& g : gains) operators += g.nodes.size();
  return count_of(operators, "elementwise operator") + " could be " +
         (n == 1 ? "one" : std::to_string(n));
}
std::string linear_text(size_t n, std::span<const Gain> gains) {
  size_t operators = 0;
  for (const auto& g : gains) operators += g.nodes.size();
  return count_of(operators, "linear layer") + " share their input with others and could be " +
         (n == 1 ? "one" : std::to_string(n));
}

constexpr Rule kFold{"fold-batch-norm", fold_text,
                     "torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn) and fuse_linear_bn_eval "
                     "for each, or torch.fx.experimental.optimization.fuse(model) for all "
                     "convolutions"};
constexpr Rule kScale{"fold-scale", scale_text,
                      "weight *= scale (one factor for each output), bias = bias * scale + what is "
                      "added; then leave the multiplication out"};
constexpr Rule kEpilogue{"fuse-activation", epilogue_text, kCompiled};
constexpr Rule kAttention{
    "fuse-attention", attention_text,
    "torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=…, scale=…); where no "
    "fused kernel takes these sizes it computes as now"};
constexpr Rule kChain{"fuse-elementwise", chain_text,
                      "torch.compile(model) makes one kernel of each"};
constexpr Rule kLinear{
    "merge-linear", linear_text,
    "torch.cat of their weights and biases, one linear layer, and split or chunk "
    "of its result, which are views"};

void tell(const Rule& rule, std::span<const Gain> gains, std::string evidence, Model& model) {
  if (!model.ledger.matter(gains, model.call.option_float("min-share"))) return;
  Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = rule.id;
  f.text = rule.text(gains.size(), gains);
  f.evidence = std::move(evidence);
  f.action = rule.action;
  model.ledger.report(f, gains);
  model.call.add(f);
}

/// Takes out those that would overflow, and tells the largest error of the others.
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
            " left out, whose folded weights would not be finite";
  return text;
}

void emit_bytes(const std::vector<Gain>& gains, Model& model) {
  std::vector<double> bytes(model.graph.nodes().size());
  for (const auto& gain : gains) bytes[gain.nodes.back().index()] += gain.saved.all();
  for (size_t i = 0; i < bytes.size(); ++i)
    model.call.emit(kFusable, TMETER_AXIS_NODE, i,
                    bytes[i] > 0 ? advice::count_cell(bytes[i]) : tmeter::Cell::zero_by_rule());
}

void run(const tmeter::Graph& graph, tmeter::Call& call) {
  if (graph.nodes().size() == 0) return;
  const plugins::Uses uses(graph);
  advice::Ledger ledger(graph, call);
  Model model{graph, call, uses, ledger};
  std::vector<Gain> all;
  const auto take = [&](const Rule& rule, const std::vector<Gain>& gains, std::string evidence) {
    tell(rule, gains, std::move(evidence), model);
    all.insert(all.end(), gains.begin(), gains.end());
  };
  auto norms = foldable_norms(model);
  auto numbers = check_numbers(norms, call);
  take(kFold, gains_of(norms, model), std::move(numbers));
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
                       .description = "Operators that could be one, and what that would save",
                       .needs = "roofline",
                   }),
                   [](tmeter::Registrar& r) {
                     r.option({.key = "min-share",
                               .type = TMETER_OPTION_FLOAT,
                               .default_value = "0.005",
                               .text = "share of the model's predicted time, or of its traffic "
                                       "where that is unknown, that a rule must save to be told",
                               .min = 0,
                               .max = 1});
                     r.metric({.id = kFusable,
                               .title = "fusable",
                               .unit = "B",
                               .unit_kind = TMETER_UNIT_BYTE,
                               .flags = TMETER_METRIC_DETAIL,
                               .convention =
                                   "bytes that would be neither read nor written if operators "
                                   "were fused as fusion-advice knows, each pattern's at its last "
                                   "operator"});
                     r.analysis("fusion-advice", advice::kRequired, kFusable, run);
                   })
