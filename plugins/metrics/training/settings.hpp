// The options `training.*`, and sizes of values under them.
#pragma once
#include <cstdint>
#include <tmeter/cpp/plugin.hpp>

#include "optimizers.hpp"

namespace training {

enum class Device { kCpu, kCuda };
enum class Attention { kFused, kMath };

struct Settings {
  bool train = true;  // batch statistics and dropout, independent of the recorded mode
  Device device = Device::kCpu;
  Attention attention = Attention::kFused;
  int64_t float_bytes = 0;  // bytes of an element of weights and activations; 0: as recorded
};

/// Bytes of an element under `training.precision`.
inline tmeter::Count element_bytes(tmeter::DType dtype, const Settings& settings) {
  const bool scaled = settings.float_bytes > 0 && dtype.kind() == tmeter::DTypeClass::kFloat;
  return scaled ? settings.float_bytes : dtype.bytes();
}

inline tmeter::Count bytes_of(const tmeter::Value& value, const Settings& settings) {
  return value.numel() * element_bytes(value.dtype(), settings);
}

/// The options `training.*` about the execution of a step.
inline Settings settings_of(const tmeter::Call& call) {
  Settings s;
  s.train = call.option_text("mode") == "train";
  s.device = call.option_text("device") == "cuda" ? Device::kCuda : Device::kCpu;
  s.attention = call.option_text("attention") == "math" ? Attention::kMath : Attention::kFused;
  s.float_bytes = weight_bytes_of(call.option_text("precision"));
  return s;
}

}  // namespace training
