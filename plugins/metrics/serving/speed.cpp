#include "speed.hpp"

#include <algorithm>

namespace serving {

StepWork Speeds::prefill(const Load& load, double cache_bytes) const {
  const auto context = static_cast<double>(load.context);
  const auto tokens = context * static_cast<double>(load.sequences);
  return {tokens * (token_macs + attention_macs * context), weight_bytes + cache_bytes};
}

StepWork Speeds::decode(const Load& load, double cache_bytes) const {
  const auto context = static_cast<double>(load.context);
  const auto tokens = static_cast<double>(load.sequences);
  return {tokens * (token_macs + attention_macs * context),
          weights_read(load.sequences) + cache_bytes};
}

double Rates::seconds(const StepWork& w) const { return std::max(w.macs / macs, w.bytes / bytes); }

}  // namespace serving
