// How findings about quantization word values, and the torchao call for a scheme.
#pragma once
#include <string>

#include "plugins/common/wording.hpp"
#include "schemes.hpp"

namespace quantization {

using plugins::bytes_text;
using plugins::count_of;
using plugins::listed;

inline std::string decibels(double v) { return tmeter::fixed(v, 1) + " dB"; }
inline std::string percent(double part, double whole) {
  return plugins::percent(whole > 0 ? part / whole : 0);
}

// The call that stores weights under a scheme. Names as in torchao 0.18 and bitsandbytes 0.50.

/// The call for linear layers (torchao.quantization.quantize_ selects them by default).
inline std::string advice_for(const Scheme& s) {
  const auto call = [](const std::string& config) { return "quantize_(model, " + config + ")"; };
  const std::string group = std::to_string(s.group);
  const std::string mapping = s.symmetric ? "" : ", mapping_type=MappingType.ASYMMETRIC";
  if (s.grid == Grid::kNormal) return "bitsandbytes.nn.Linear4bit(…, quant_type=\"nf4\")";
  if (s.scope == Scope::kElement) return s.id == "bf16" ? "model.bfloat16()" : "model.half()";
  if (s.grid == Grid::kFloat && s.scope == Scope::kGroup)
    return "MXFP4 kernels, as in torchao.prototype.mx_formats";
  if (s.grid == Grid::kFloat) {
    const std::string type = s.id.starts_with("fp8_e5m2") ? "weight_dtype=torch.float8_e5m2, " : "";
    return call("Float8WeightOnlyConfig(" + type +
                "granularity=" + (s.scope == Scope::kTensor ? "PerTensor())" : "PerRow())"));
  }
  if (s.bits == 4 && s.scope == Scope::kGroup && !s.symmetric)
    return call("Int4WeightOnlyConfig(group_size=" + group + ")") + " (a GPU and mslk)";
  if (s.bits == 8 && s.symmetric && s.scope != Scope::kTensor)
    return call(s.scope == Scope::kChannel
                    ? std::string("Int8WeightOnlyConfig()")
                    : "Int8WeightOnlyConfig(granularity=PerGroup(" + group + "))");
  if (s.scope == Scope::kTensor) return "a kernel of your own: one scale per tensor";
  return call("IntxWeightOnlyConfig(weight_dtype=torch.int" + std::to_string(s.bits) +
              ", granularity=" +
              (s.scope == Scope::kChannel ? std::string("PerAxis(0)") : "PerGroup(" + group + ")") +
              mapping + ")");
}

}  // namespace quantization
