// The ways to turn multiply-accumulates into "FLOPs" (docs/conventions.md).
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace flops {

enum class Convention {
  kTorch,
  kFvcore,
  kTorchvision,
  kFull,
  kThop,
  kPtflops,
  kTorchinfo,
  kTorchmeter,
  kTorchmeterFlops,
  kTorchstat
};

/// From the option's text; the host has checked that it is one of `kConventionNames`.
Convention convention_of(std::string_view name);

inline constexpr std::string_view kConventionNames =
    "torch fvcore torchvision full thop ptflops torchinfo torchmeter torchmeter_flops torchstat";

/// The options flops.convention and flops.causal.
struct Choice {
  Convention convention = Convention::kTorch;
  bool half = false;  // causal attention counts only scores that the mask keeps
};

std::string_view text_of(Convention convention);

/// The convention's text below the number in reports.
std::string text_of(const Choice& choice);

/// The FLOPs of one node from `macs` and `other_flops`; unknown if one that the convention needs is
/// unknown.
tmeter::Cell flops_of(const tmeter::Node& n, const Choice& choice, tmeter::Call& call);

/// torchstat's MAdd of one node (compute_madd.py). Reads `macs`.
tmeter::Cell madd_of(const tmeter::Node& n, tmeter::Call& call);

/// The FLOPs of a module call whose `macs` or `other_flops` a module handler gives as a whole.
tmeter::Cell flops_of_call(const tmeter::ModuleCall& m, const Choice& choice, tmeter::Call& call);

}  // namespace flops
