#include "speed.hpp"

#include <algorithm>

namespace serving {

namespace {

/// Eight of ten measured times of a whole engine are between these factors of the expected time:
/// every second run of TensorRT-LLM (tests/predictions/serving.toml) and step of vLLM on the H100
/// (mlenergy.toml). The test docs.predictions compares.
constexpr double kEngineLow = 0.82, kEngineHigh = 1.3;

machine::Expected with_engine(double seconds) {
  return {seconds, seconds * kEngineLow, seconds * kEngineHigh};
}

}  // namespace

StepWork Speeds::prefill(const Load& load, double cache_bytes) const {
  const auto context = static_cast<double>(load.context);
  const auto tokens = context * static_cast<double>(load.sequences);
  return {tokens * (token_macs + attention_macs * context), weight_bytes + cache_bytes, tokens,
          static_cast<double>(load.sequences)};
}

StepWork Speeds::decode(const Load& load, double cache_bytes, int64_t each) const {
  const auto context = static_cast<double>(load.context);
  const auto rows = load.sequences * each;
  const auto tokens = static_cast<double>(rows);
  return {tokens * (token_macs + attention_macs * context), weights_read(rows) + cache_bytes,
          tokens, static_cast<double>(load.sequences)};
}

double Rates::seconds(const StepWork& w, double devices) const {
  return std::max(w.macs / macs, w.bytes / bytes) / devices;
}

std::optional<machine::Expected> Steps::expected(const Speeds& s, const StepWork& w) const {
  if (s.products == 0) return std::nullopt;
  const double parts = s.products * devices_;
  const machine::Work product{w.macs / parts, 0, w.bytes / parts, tmeter::OpClass::kMatmul, type_};
  const auto one = curves_.of({&product, 1}, machine_, call_);
  if (!one) return std::nullopt;
  const double products = one->seconds * s.products + w.sequences * sequence_seconds_;
  if (devices_ == 1) return with_engine(products);
  constexpr double kSums = 2;  // sums per layer: after attention and after feed-forward
  const double bytes = w.tokens * s.width * static_cast<double>(type_.bytes());
  const auto sum = machine::Curves::all_reduce(bytes, devices_, call_);
  if (!sum) return std::nullopt;
  return with_engine(products + sum->seconds * kSums * s.layers);
}

}  // namespace serving
