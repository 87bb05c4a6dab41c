#include "plugins/common/machine/curves.hpp"

#include <algorithm>
#include <cmath>

namespace machine {
namespace {

enum class Kind {
  kProduct,
  kConvolution,
  kTensor,
  kTensorConvolution,
  kTensor8,
  kSoftmax,
  kNormalization,
  kOther,
  kReduce
};

struct Band {
  double low, high;  // factors of the expected time
};

struct Curve {
  Kind kind;
  double share;    // factor of the units' share; for kProduct and kTensor the maximum, or the share
                   // of other devices
  double fill;     // MACs that keep a device busy
  double memory;   // share of peak.dram; of kReduce, of link.bandwidth
  double call;     // s
  double reuse;    // share of a row's bytes that the L2 has to hold
  double gain;     // the factor by which a 3 × 3 convolution has fewer MACs
  double edge;     // additional MACs of each output
  double columns;  // columns (Layout::columns) that a kernel computes at once
  double block;    // fewest outputs for each thread that the device holds
  double narrow;   // share of peak.op of a convolution without tensor cores
  Band fitted, foreign;

  /// Multiples of the share of the device's units.
  bool has_multiple() const {
    return kind == Kind::kConvolution || kind == Kind::kTensorConvolution || kind == Kind::kTensor8;
  }
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
  const bool is_convolution = work.kind == OpClass::kConvolution;
  if (work.macs > 0 && !on_tensor_cores)
    return is_convolution ? Kind::kConvolution : Kind::kProduct;
  if (work.macs > 0 && work.type.kind() == DTypeClass::kFloat && work.type.bytes() == 1)
    return Kind::kTensor8;
  if (work.macs > 0) return is_convolution ? Kind::kTensorConvolution : Kind::kTensor;
  if (work.kind == OpClass::kSoftmax) return Kind::kSoftmax;
  return work.kind == OpClass::kNormalization ? Kind::kNormalization : Kind::kOther;
}

double rounded_up(double n, double step) { return std::ceil(n / step) * step; }

/// cuDNN 7 uses tensor cores only for multiples of 8 channels.
bool is_narrow(const Curve& curve, const Layout& layout) {
  constexpr double kMultiple = 8;
  return curve.narrow > 0 && std::fmod(layout.channels, kMultiple) != 0;
}

/// The MACs that determine the time of a kernel: whole tiles, or its longest chain.
double macs_in_time(const Curve& curve, const Work& work, double threads) {
  constexpr double kChannels = 4;  // columns at once for narrow products
  const auto& l = work.layout;
  double macs = work.macs + curve.edge * l.outputs;
  if (l.columns > 0) macs *= rounded_up(l.columns, curve.columns) / l.columns;
  if (is_narrow(curve, l)) macs *= rounded_up(l.channels, kChannels) / l.channels;
  if (l.outputs > 0) macs = std::max(macs, curve.block * threads * work.macs / l.outputs);
  return macs / (l.winograd ? curve.gain : 1) + curve.fill;
}

/// The reads of a row by kernels of PyTorch 2.1: a layer norm reads it twice with 128 threads
/// (layer_norm_kernel.cu), a softmax of more than 1,024 columns three times, with a thread for two
/// vectors of 16 bytes, 512 at most (SoftMax.cu).
struct RowKernel {
  double again;    // reads after the first
  double threads;  // threads that work on a row
};

RowKernel row_kernel(const Work& work) {
  if (work.kind == OpClass::kNormalization) return {1, 128};
  constexpr double kPersistent = 1024, kMaxThreads = 1024, kVector = 16;
  const double columns = work.row / std::max<double>(static_cast<double>(work.type.bytes()), 1);
  if (columns <= kPersistent) return {0, 32};
  double threads = 32;
  while (threads < std::min(work.row / kVector, kMaxThreads) / 2) threads *= 2;
  return {2, threads};
}

}  // namespace

Curves::Share Curves::share_of(std::string_view units, const tmeter::Call& call) {
  const auto number = [&](std::string_view family) {
    return Machine::number(call, std::string(family).append(units));
  };
  if (const auto v = number("curve.fitted."))
    return {v, true, number("curve.low."), number("curve.high.")};
  return {number("curve.transferred."), false, {}, {}};
}

void Curves::start(const Machine& machine, const tmeter::Call& call) {
  vector_ = share_of("vector", call);
  tensor_ = share_of("tensor", call);
  convolution_ = share_of("convolution", call);
  memory_ = Machine::number(call, "curve.memory");
  cache_ = Machine::number(call, "cache.l2");
  threads_ = Machine::number(call, "threads.resident");
  missing_.clear();
  for (const auto* s : {&vector_, &tensor_, &convolution_})
    if (s->low && s->high && !(*s->low <= 1 && *s->high >= 1))
      missing_ = machine.quoted_name() +
                 " has a band without the expected time itself: curve.low.* is at most 1, "
                 "curve.high.* at least 1";
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

double Curves::read_again(const Work& work, double reuse) const {
  const auto kernel = row_kernel(work);
  const double read = work.bytes / 2;  // the same bytes are written
  const double in_flight = std::min(threads_.value_or(0) / kernel.threads * work.row, read) * reuse;
  const double hit = cache_ && threads_ ? std::max(0.0, 1 - in_flight / *cache_) : 0;
  return kernel.again * read * (1 - hit);
}

std::optional<Expected> Curves::of(const Work& work, Machine& machine,
                                   const tmeter::Call& call) const {
  if (work.macs == 0 && work.ops == 0 && work.bytes == 0) return Expected{};
  const auto op =
      work.ops > 0 || work.macs > 0 ? machine.value_for(Family::kPeakOp, work, call) : 0;
  const auto mac = work.macs > 0 ? machine.value_for(Family::kPeakMac, work, call) : std::nullopt;
  if (!op || (work.macs > 0 && !mac)) return std::nullopt;
  // Vector units do one multiply-accumulate in the time of another operation.
  constexpr double kFaster = 1.5;
  const bool on_tensor_cores = mac && *mac > kFaster * *op;
  const auto kind = kind_of(work, on_tensor_cores);
  const auto& curve = curve_of(kind);
  auto units = on_tensor_cores ? tensor_ : vector_;
  if (mac && !units.value) return std::nullopt;
  if (kind == Kind::kConvolution && convolution_.value)
    units = convolution_;
  else if (curve.has_multiple())
    units = {*units.value * curve.share, units.fitted && kind == Kind::kTensor8, {}, {}};

  double arithmetic = seconds_at(work.ops, op);
  if (mac)
    arithmetic += macs_in_time(curve, work, threads_.value_or(0)) /
                  (is_narrow(curve, work.layout) ? *op * curve.narrow : *mac * *units.value);
  const double memory = mac ? curve.memory : memory_.value_or(curve.memory);
  const double bytes = std::max(work.bytes - work.layout.unread, 0.0) +
                       (work.row > 0 && !mac ? read_again(work, curve.reuse) : 0);
  const double traffic = bytes / (*machine.bandwidth() * memory);
  const double seconds = curve.call + std::hypot(arithmetic, traffic);
  auto band = (mac ? units.fitted : memory_.has_value()) ? curve.fitted : curve.foreign;
  if (mac && units.low && units.high) band = {*units.low, *units.high};
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
