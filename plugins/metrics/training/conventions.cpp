#include "conventions.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <tmeter/cpp/op_class.hpp>

#include "analyses.hpp"

namespace training {
namespace {

using tmeter::Cell;
using tmeter::Count;
using tmeter::Node;
using tmeter::Value;

struct Named {
  Convention convention;
  std::string_view name, text;
};

constexpr std::array<Named, 5> kConventions{{
    {Convention::kExact, "exact",
     "exact: 1 MAC = 2 FLOPs; a product has the gradient of each factor that needs one, fused "
     "attention five products "
     "backward; recurrent layers and grouped convolutions as they compute; bias, norms, "
     "activations not counted"},
    {Convention::kTorch, "torch",
     "torch: as torch.utils.flop_counter.FlopCounterMode (torch 2.15) counts forward and backward: "
     "the weight gradient of a grouped convolution times its groups, LSTMs and vector products 0"},
    {Convention::kSixN, "6n",
     "6n: 6 × parameters × tokens, 4 of them backward (Kaplan et al., arXiv:2001.08361); "
     "embeddings left out, attention not counted"},
    {Convention::kPalm, "palm",
     "palm: 6 × parameters × tokens and 12 × layers × heads × width × length per token for "
     "attention, in full, causal "
     "or not (Chowdhery et al., arXiv:2204.02311, appendix B); two thirds backward"},
    {Convention::kMegatron, "megatron",
     "megatron: 6 per MAC of a product, 3 of causal attention, of which half is masked "
     "(Megatron-LM, num_floating_point_operations); two thirds backward"},
}};

bool is_embedding(const Node& node) {
  return tmeter::op_class(node.op()) == tmeter::OpClass::kEmbedding;
}

Cell two_thirds(Cell whole) { return whole.is_int() ? Cell(whole.count() / 3 * 2) : whole; }

Flops split(Cell step) { return {two_thirds(step), step, Cell::zero_by_rule()}; }

Cell doubled(const Cell& cell) { return cell.is_int() ? Cell(cell.count() * 2) : cell; }

Cell megatron(const Node& node, const Cell& macs) {
  if (!macs.is_int()) return macs;
  const bool causal = is_attention(tmeter::base_name(node.op())) && node.arg("is_causal").as_bool();
  return macs.count() * (causal ? 3 : 6);
}

Cell by_parameters(const Node& node, const Cell& macs, const LanguageModel& model, bool attention) {
  auto flops = model.parameters_of(node) * model.tokens() * 6;
  if (attention && is_attention(tmeter::base_name(node.op()))) {
    if (!macs.is_int()) return Cell::unsupported();
    flops += macs.count() * 6;
  }
  return flops == Count(0) ? Cell::zero_by_rule() : Cell(flops);
}

}  // namespace

Convention convention_of(std::string_view name) {
  const auto* at = std::find_if(kConventions.begin(), kConventions.end(),
                                [&](const Named& c) { return c.name == name; });
  return at != kConventions.end() ? at->convention
                                  : Convention::kExact;  // the host has checked the choice
}

std::string_view text_of(Convention convention) {
  return kConventions[static_cast<size_t>(convention)].text;
}

LanguageModel::LanguageModel(const tmeter::Graph& graph) {
  for (const auto& input : graph.inputs())
    if (input.dtype().kind() == tmeter::DTypeClass::kInt && input.shape().rank() <= 2 &&
        tokens_ == Count(0))
      tokens_ = input.numel();
  std::vector<bool> seen(graph.tensors().size());
  parameters_.resize(graph.nodes().size());
  for (const auto& node : graph.nodes()) {
    const auto use = [&](const Value& v) {
      const auto tensor = v.tensor();
      if (!tensor || !tensor.is_parameter() || seen[tensor.canonical().index()]) return;
      seen[tensor.canonical().index()] = true;
      parameters_[node.index()] += tensor.numel();
    };
    if (is_embedding(node)) continue;
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto value = node.arg(i);
      use(value);
      for (size_t k = 0; k < value.size(); ++k) use(value[k]);
    }
  }
}

Cell sum_of(const Cell& a, const Cell& b) {
  if (b.is_zero_by_rule()) return a;
  if (a.is_zero_by_rule()) return b;
  if (!a.known() || !b.known()) return Cell::unsupported();
  return a.count() + b.count();
}

Flops flops_of(const Node& node, const Cell& macs, const Work& work, Convention convention,
               const LanguageModel& model) {
  switch (convention) {
    case Convention::kExact: {
      const auto forward = work.adapter == Count(0) ? macs : sum_of(macs, Cell(work.adapter));
      return {doubled(work.backward), sum_of(doubled(forward), doubled(work.backward)),
              doubled(forward)};
    }
    case Convention::kTorch:
      return {doubled(work.torch_backward),
              sum_of(doubled(work.torch_forward), doubled(work.torch_backward)),
              doubled(work.torch_forward)};
    case Convention::kMegatron:
      return split(megatron(node, macs));
    case Convention::kSixN:
    case Convention::kPalm:
      return split(by_parameters(node, macs, model, convention == Convention::kPalm));
  }
  return {};
}

namespace {

/// The type of the products: `training.precision`, else that of the largest parameter.
std::string_view type_of_products(const tmeter::Graph& graph, std::string_view precision) {
  if (precision == "fp32") return "float32";
  if (precision != "recorded") return "bfloat16";
  tmeter::Count largest = 0;
  std::string_view type = "float32";
  for (const auto& t : graph.tensors()) {
    if (!t.is_parameter() || t.numel() <= largest) continue;
    largest = t.numel();
    type = t.dtype().name();
  }
  return type;
}

}  // namespace

void find_utilization(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto seconds = call.option_float("step-time");
  if (seconds <= 0) return;
  const auto total = [&](std::string_view id) { return call.read(id, TMETER_AXIS_MODEL, 0); };
  const auto step = total("training_flops"), again = total("recomputed_flops");
  if (!step.known()) return;
  const auto key =
      "peak.mac." + std::string(type_of_products(graph, call.option_text("precision")));
  double peak = 0;
  if (!call.hardware_number(key, peak) || peak <= 0)
    return call.warn("training: hardware profile '" + std::string(call.hardware_name()) +
                     "' has no " + key +
                     ", so mfu and hfu are unknown; choose one with --hardware");
  const double whole = step.real() / seconds / (2 * peak);
  const double repeated = again.known() ? again.real() / seconds / (2 * peak) : 0;
  if (whole > 1)
    call.warn("training: a step of training.step-time would reach more than the peak of '" +
              std::string(call.hardware_name()) + "'; the time, the profile or the type is wrong");
  const auto emit = [&](std::string_view id, double share) {
    const tmeter::Cell cell(share);
    call.emit(id, TMETER_AXIS_MODEL, 0, step.partial() ? cell.as_partial() : cell);
  };
  emit("mfu", whole - repeated);
  emit("hfu", whole);
}

}  // namespace training
