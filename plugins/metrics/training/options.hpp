// The options `training.*` that say how a step runs, as settings.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "optimizers.hpp"
#include "settings.hpp"

namespace training {

inline Settings settings_of(const tmeter::Call& call) {
  Settings s;
  s.train = call.option_text("mode") == "train";
  s.device = call.option_text("device") == "cuda" ? Device::kCuda : Device::kCpu;
  s.attention = call.option_text("attention") == "math" ? Attention::kMath : Attention::kFused;
  s.float_bytes = weight_bytes_of(call.option_text("precision"));
  return s;
}

}  // namespace training
