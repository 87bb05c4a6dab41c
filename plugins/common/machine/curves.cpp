#include "plugins/common/machine/curves.hpp"

#include <cmath>

namespace machine {
namespace {

enum class Kind { kProduct, kTensor, kSoftmax, kNormalization, kOther, kReduce };

struct Band {
  double low, high;  // factors of the expected time
};

struct Curve {
  Kind kind;
  double share;   // of peak arithmetic, at most; on tensor cores of a device that was not measured
  double fill;    // MACs that a device takes to be busy
  double memory;  // share of peak.dram; of kReduce, of link.bandwidth
  double call;    // s
  Band known, foreign;
};

constexpr Curve kCurves[] = {
#include "plugins/common/machine/curves.inc"
};

constexpr const Curve& curve_of(Kind kind) {
  for (const auto& c : kCurves)
    if (c.kind == kind) return c;
  throw "curves.inc lacks a kind";
}

Kind kind_of(const Work& work, bool on_tensor_cores) {
  if (work.macs > 0) return on_tensor_cores ? Kind::kTensor : Kind::kProduct;
  if (work.kind == OpClass::kSoftmax) return Kind::kSoftmax;
  return work.kind == OpClass::kNormalization ? Kind::kNormalization : Kind::kOther;
}

}  // namespace

Curves::Share Curves::share_of(std::string_view units, const tmeter::Call& call) {
  if (const auto v = Machine::number(call, std::string("curve.fitted.").append(units)))
    return {v, true};
  return {Machine::number(call, std::string("curve.transferred.").append(units)), false};
}

void Curves::start(const Machine& machine, const tmeter::Call& call) {
  vector_ = share_of("vector", call);
  tensor_ = share_of("tensor", call);
  memory_ = Machine::number(call, "curve.memory");
  missing_.clear();
  if (!machine.has_peak_mac() || !machine.bandwidth())
    missing_ = machine.quoted_name() + " has no peak rates (peak.mac.*, peak.dram)";
  else if (!vector_.value && !tensor_.value)
    missing_ = machine.quoted_name() + " has no curves (curve.*): nothing was fitted for it";
}

std::string Curves::origin() const {
  const auto of = [](const Share& s) {
    return s.fitted ? "fitted on measurements of this device" : "carried over from other devices";
  };
  if (!vector_.value || !tensor_.value) return of(vector_.value ? vector_ : tensor_);
  if (vector_.fitted == tensor_.fitted) return of(vector_);
  return std::string("vector units: ") + of(vector_) + ", tensor cores: " + of(tensor_);
}

std::optional<Expected> Curves::of(const Work& work, Machine& machine,
                                   const tmeter::Call& call) const {
  if (work.macs == 0 && work.ops == 0 && work.bytes == 0) return Expected{};
  const auto op = work.ops > 0 || work.macs > 0 ? machine.figure(Family::kPeakOp, work, call) : 0;
  const auto mac = work.macs > 0 ? machine.figure(Family::kPeakMac, work, call) : std::nullopt;
  if (!op || (work.macs > 0 && !mac)) return std::nullopt;
  // Vector units do one multiply-accumulate in the time of another operation.
  constexpr double kFaster = 1.5;
  const bool on_tensor_cores = mac && *mac > kFaster * *op;
  const auto& units = on_tensor_cores ? tensor_ : vector_;
  if (mac && !units.value) return std::nullopt;

  const auto& curve = curve_of(kind_of(work, on_tensor_cores));
  double arithmetic = seconds_at(work.ops, op);
  if (mac) arithmetic += (work.macs + curve.fill) / (*mac * *units.value);
  double memory = curve.memory;
  if (!mac && memory_) memory *= *memory_ / curve_of(Kind::kOther).memory;
  const double traffic = work.bytes / (*machine.bandwidth() * memory);
  const double seconds = curve.call + std::hypot(arithmetic, traffic);
  const auto& band = (mac ? units.fitted : memory_.has_value()) ? curve.known : curve.foreign;
  if (!std::isfinite(seconds)) return std::nullopt;
  return Expected{seconds, seconds * band.low, seconds * band.high};
}

std::optional<Expected> Curves::of(std::span<const Work> parts, Machine& machine,
                                   const tmeter::Call& call) const {
  Expected all;
  for (const auto& work : parts) {
    const auto one = of(work, machine, call);
    if (!one) return std::nullopt;
    all += *one;
  }
  return all;
}

std::optional<Expected> Curves::all_reduce(double bytes, double devices, const tmeter::Call& call) {
  const auto link = Machine::number(call, "link.bandwidth");
  if (!link || *link <= 0) return std::nullopt;
  constexpr auto curve = curve_of(Kind::kReduce);
  const double seconds = curve.call + 2 * (devices - 1) / devices * bytes / (*link * curve.memory);
  return Expected{seconds, seconds * curve.foreign.low, seconds * curve.foreign.high};
}

}  // namespace machine
