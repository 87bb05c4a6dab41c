// The four ways to turn multiply-accumulates into "FLOPs" (docs/conventions.md).
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace flops {

enum class Convention { kTorch, kFvcore, kTorchvision, kFull };

/// From the option's text; the host has checked that it is one of `kConventionNames`.
Convention convention_of(std::string_view name);

inline constexpr std::string_view kConventionNames = "torch fvcore torchvision full";

/// What the report says under the number.
std::string_view text_of(Convention c);

/// The FLOPs of one node. Reads `macs` and `other_flops`; unknown when what it needs is unknown.
tmeter::Cell flops_of(const tmeter::Node& n, Convention c, tmeter::Call& call);

}  // namespace flops
