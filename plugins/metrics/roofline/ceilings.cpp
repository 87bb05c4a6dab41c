#include "ceilings.hpp"

#include <algorithm>
#include <cmath>

namespace roofline {
namespace {

using machine::Family;

/// Covers the sum of two vectors and the largest products of matrices.
constexpr double kMinIntensity = 1.0 / 64, kMaxIntensity = 16'384;  // FLOP/B

tmeter::Series roof(const std::string& title, double flops, double bytes) {
  tmeter::Series s{.id = "roofline",
                   .title = "roofline of " + title,
                   .x_title = std::string(kIntensityTitle),
                   .x_unit = std::string(kIntensityUnit),
                   .y_title = std::string(kRateTitle),
                   .y_unit = std::string(kRateUnit),
                   .x = {},
                   .y = {}};
  for (const double x :
       {kMinIntensity, std::clamp(flops / bytes, kMinIntensity, kMaxIntensity), kMaxIntensity}) {
    if (!s.x.empty() && x <= s.x.back()) continue;
    s.x.push_back(x);
    s.y.push_back(std::min(flops, x * bytes));
  }
  return s;
}

}  // namespace

void Ceilings::add(const machine::Work& work, machine::Machine& machine, const tmeter::Call& call) {
  const auto rate = [&](double amount, Family family) {
    return amount > 0 ? machine.value_for(family, work, call).value_or(0) : 0;
  };
  auto& highest = highest_[work.type.id()];
  highest.flops = std::max(
      {highest.flops, 2 * rate(work.macs, Family::kPeakMac), rate(work.ops, Family::kPeakOp)});
  highest.caches = std::max(highest.caches, machine.bandwidth_of(work.kind, call).value_or(0));
}

void Ceilings::draw(const machine::Machine& machine, tmeter::Call& call) const {
  const double memory = machine.bandwidth().value_or(0);
  for (const auto& [id, rates] : highest_) {
    const auto is_rate = [](double rate) { return std::isnormal(rate); };
    if (!is_rate(rates.flops) || !is_rate(memory)) continue;
    const std::string type(tmeter::DType(id).name());
    call.add(roof(type + " and memory", rates.flops, memory));
    if (rates.caches > memory) call.add(roof(type + " and caches", rates.flops, rates.caches));
  }
}

}  // namespace roofline
