#include "convention.hpp"

#include <array>

#include "fvcore.hpp"
#include "ops/ops.hpp"

namespace flops {
namespace {

using tmeter::Cell;
using tmeter::Count;

struct Named {
  Convention convention;
  std::string_view name, text;
};

constexpr std::array<Named, 4> kConventions{{
    {Convention::kTorch, "torch",
     "torch: 1 MAC = 2 FLOPs, as torch.utils.flop_counter.FlopCounterMode (torch 2.15) in gradient "
     "mode; bias, norms, activations not counted"},
    {Convention::kFvcore, "fvcore",
     "fvcore: 1 MAC = 1 FLOP, as fvcore.nn.FlopCountAnalysis 0.1.5: convolutions, linear, matrix "
     "products and einsum, plus its own figures for norms, resizing and adaptive average pooling; "
     "attention, recurrent layers and baddbmm not counted"},
    {Convention::kTorchvision, "torchvision",
     "torchvision: 1 MAC = 1 FLOP, as the _ops of torchvision's weight metadata; bias, norms, "
     "activations not counted"},
    {Convention::kFull, "full",
     "full: 2 per MAC plus all other arithmetic: bias, norms, activations, softmax, pooling, "
     "elementwise, reductions, interpolation, gates; one per addition, multiplication, division, "
     "comparison, root, exponential or tanh"},
}};

Cell full(const Cell& macs, const Cell& other) {
  if (!macs.known() || !other.known()) return Cell::unsupported();
  if (macs.is_zero_by_rule() && other.is_zero_by_rule()) return Cell::zero_by_rule();
  return macs.count() * 2 + other.count();
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

Cell flops_of(const tmeter::Node& n, Convention c, tmeter::Call& call) {
  const auto macs = call.read(kMacs, n);
  if (c == Convention::kFvcore) return fvcore_flops(n, macs, call);
  if (c == Convention::kFull) return full(macs, call.read(kOther, n));
  if (!macs.is_int()) return macs.known() ? macs : Cell::unsupported();
  return macs.count() * (c == Convention::kTorch ? 2 : 1);
}

}  // namespace flops
