#include "convention.hpp"

#include <array>

#include "ops/facts.hpp"
#include "tools.hpp"

namespace flops {
namespace {

struct Named {
  Convention convention;
  std::string_view name, text;
};

constexpr std::array<Named, 10> kConventions{{
    {Convention::kTorch, "torch",
     "torch: 1 MAC = 2 FLOPs, as torch.utils.flop_counter.FlopCounterMode (torch 2.15) in gradient "
     "mode; bias, norms, activations not counted"},
    {Convention::kFvcore, "fvcore",
     "fvcore: 1 MAC = 1 FLOP, as fvcore.nn.FlopCountAnalysis 0.1.5: convolutions, linear, matrix "
     "products and einsum, plus its own counts for norms, resizing and adaptive average pooling; "
     "attention, recurrent layers and baddbmm not counted"},
    {Convention::kTorchvision, "torchvision",
     "torchvision: 1 MAC = 1 FLOP, as the _ops of torchvision's weight metadata; bias, norms, "
     "activations not counted"},
    {Convention::kFull, "full",
     "full: 2 per MAC plus all other arithmetic: bias, norms, activations, softmax, pooling, "
     "elementwise, reductions, interpolation, gates; one per addition, multiplication, division, "
     "comparison, root, exponential or tanh"},
    {Convention::kThop, "thop",
     "thop: 1 MAC = 1 FLOP, plus thop 0.1.1's own counts for norms, softmax, average pooling, "
     "resizing and gates; its known errors not copied (docs/conventions.md)"},
    {Convention::kPtflops, "ptflops",
     "ptflops: 1 MAC = 1 FLOP, plus biases and ptflops 0.7.5's own counts for norms, activations, "
     "softmax, pooling, resizing and gates; its known errors not copied (docs/conventions.md)"},
    {Convention::kTorchinfo, "torchinfo",
     "torchinfo: 1 MAC = 1 FLOP, plus biases, and batch × parameters of norms, as torchinfo "
     "1.8.0's mult-adds; its known errors not copied (docs/conventions.md)"},
    {Convention::kTorchmeter, "torchmeter",
     "torchmeter: 1 MAC = 1 FLOP, plus batch norms, activations and pooling as in torchmeter "
     "0.1.0's MACs; its known errors not copied (docs/conventions.md)"},
    {Convention::kTorchmeterFlops, "torchmeter_flops",
     "torchmeter_flops: 2 per MAC, one addition less for each result that adds no bias, plus batch "
     "norms, activations and pooling as in torchmeter 0.1.0's FLOPs; its known errors not copied "
     "(docs/conventions.md)"},
    {Convention::kTorchstat, "torchstat",
     "torchstat: 1 MAC = 1 FLOP, plus biases of convolutions, batch norms, activations, pooling "
     "and resizing as in torchstat 0.0.7's Flops; its known errors not copied "
     "(docs/conventions.md)"},
}};

Cell full(const Cell& macs, const Cell& other) {
  if (!macs.known() || !other.known()) return Cell::unsupported();
  if (macs.is_zero_by_rule() && other.is_zero_by_rule()) return Cell::zero_by_rule();
  return macs.count() * 2 + other.count();
}

Cell times(const Cell& macs, int64_t flops_per_mac) {
  if (!macs.is_int()) return macs.known() ? macs : Cell::unsupported();
  return macs.count() * flops_per_mac;
}

Cell partial_if(bool partial, const Cell& cell) { return partial ? cell.as_partial() : cell; }

/// MACs and other arithmetic of attention are proportional to its scores.
Cell kept(const Cell& cell, const std::optional<CausalShare>& share) {
  return share && cell.is_int() ? Cell(cell.count() / share->all * share->kept) : cell;
}

std::optional<Tool> tool_of(Convention c) {
  if (c < Convention::kThop) return std::nullopt;
  return static_cast<Tool>(static_cast<int>(c) - static_cast<int>(Convention::kThop));
}

}  // namespace

Convention convention_of(std::string_view name) {
  for (const auto& c : kConventions)
    if (c.name == name) return c.convention;
  throw tmeter::Error(TMETER_BAD_USAGE,
                      "flops.convention '" + std::string(name) +
                          "' is unknown; known: " + std::string(kConventionNames));
}

std::string_view text_of(Convention c) { return kConventions[static_cast<size_t>(c)].text; }

std::string text_of(const Choice& choice) {
  std::string text(text_of(choice.convention));
  if (choice.half)
    text +=
        "; attention called with is_causal counts only the scores its mask leaves, the "
        "diagonal included (`macs` stays in full)";
  return text;
}

Cell flops_of(const Node& n, const Choice& choice, tmeter::Call& call) {
  const auto share = choice.half ? causal_share(n) : std::nullopt;
  const auto macs = kept(call.read(kMacs, n), share);
  const auto c = choice.convention;
  if (c == Convention::kFvcore) return fvcore_flops(n, macs, call);
  if (c == Convention::kFull) return full(macs, kept(call.read(kOther, n), share));
  if (const auto tool = tool_of(c)) return tool_flops(n, *tool, macs);
  return times(macs, c == Convention::kTorch ? 2 : 1);
}

Cell madd_of(const Node& n, tmeter::Call& call) {
  return tool_flops(n, Tool::kTorchstatMadd, call.read(kMacs, n));
}

// fvcore and other tools add values for norms and the like by operator, and operators are not
// evaluated here. Under their conventions the result is a lower bound.
Cell flops_of_call(const tmeter::ModuleCall& m, const Choice& choice, tmeter::Call& call) {
  const auto c = choice.convention;
  const auto macs = call.read(kMacs, m);
  if (c == Convention::kFull) {
    const auto other = call.read(kOther, m);
    return partial_if(macs.partial() || other.partial(), full(macs, other));
  }
  if (!macs.by_module()) return Cell::unsupported();  // does not count without MACs
  const bool by_operator = c == Convention::kFvcore || tool_of(c).has_value();
  return partial_if(macs.partial() || by_operator, times(macs, c == Convention::kTorch ? 2 : 1));
}

}  // namespace flops
