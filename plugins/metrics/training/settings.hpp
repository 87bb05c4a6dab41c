// What the options `training.*` say.
#pragma once
#include <cstdint>

namespace training {

enum class Device { kCpu, kCuda };
enum class Attention { kFused, kMath };

struct Settings {
  bool train = true;  // batch statistics and dropout, whatever the file was recorded with
  Device device = Device::kCpu;
  Attention attention = Attention::kFused;
};

}  // namespace training
