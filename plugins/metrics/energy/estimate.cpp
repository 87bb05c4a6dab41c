#include "estimate.hpp"

namespace energy {
namespace {

using tmeter::Call;
using tmeter::Node;
using tmeter::Value;

/// The call of the moment is the only way to the profile.
Lookup lookup_in(const Call& call) {
  return [&call](const std::string& key) -> std::optional<double> {
    double value = 0;
    if (!call.hardware_number(key, value)) return std::nullopt;
    return value;
  };
}

/// What a profile says of itself, for messages.
std::string quoted(std::string_view name) {
  return std::string("hardware profile '").append(name).append("'");
}

bool takes_part_in_arithmetic(DType type) {
  return type.kind() == DTypeClass::kFloat || type.kind() == DTypeClass::kComplex ||
         type.kind() == DTypeClass::kQuantized;
}

/// Visits tensor arguments in order, also inside lists, until `f` returns true.
template <class F>
bool any_tensor_argument(const Node& node, F f) {
  for (size_t i = 0; i < node.arg_count(); ++i) {
    const auto value = node.arg(i);
    if (value.is_tensor() && f(value)) return true;
    for (size_t k = 0; k < value.size(); ++k) {
      if (value[k].is_tensor() && f(value[k])) return true;
    }
  }
  return false;
}

/// The type the arithmetic is done in: that of the first floating, complex or quantized argument
/// (activations come before weights and scales in every schema); else of the first tensor argument;
/// else of the result.
DType arithmetic_type(const Node& node) {
  DType found;
  any_tensor_argument(node, [&found](const Value& v) {
    const bool better = takes_part_in_arithmetic(v.dtype());
    if (better || !found.known()) found = v.dtype();
    return better;
  });
  if (!found.known() && node.result_count() > 0) found = node.result(0).dtype();
  return found;
}

}  // namespace

void Estimator::start(const Call& call) {
  const auto lookup = lookup_in(call);
  *this = Estimator();
  profile_name_ = call.hardware_name();
  const auto no = [this](std::string_view what) {
    return quoted(profile_name_) + " has no " + std::string(what);
  };
  scope_.compute = Profile::has(lookup, Family::kEnergyMac);
  if (!scope_.compute) scope_.missing_compute = no("energy per MAC (energy.mac.*)");

  const auto per_byte = lookup("energy.dram");
  scope_.memory = per_byte.has_value();
  per_byte_ = per_byte.value_or(0);
  if (!per_byte) scope_.missing_memory = no("energy per byte (energy.dram)");

  const auto power = lookup("power.static");
  power_ = power.value_or(0);
  bandwidth_ = lookup("peak.dram");
  has_peak_mac_ = Profile::has(lookup, Family::kPeakMac);
  has_peak_op_ = Profile::has(lookup, Family::kPeakOp);
  scope_.standing = power && (has_peak_mac_ || bandwidth_);
  if (!power) {
    scope_.missing_standing = no("static power (power.static)");
  } else if (!scope_.standing) {
    scope_.missing_standing = no("peak rates (peak.*), so there is no time for static power");
  }
}

void Estimator::warn_once(const Call& call, const std::string& message) {
  if (warned_.insert(message).second) call.warn(message);
}

std::optional<Work> Estimator::work_of(const Node& node, const Call& call) {
  const auto amount = [&](std::string_view metric) -> std::optional<double> {
    const auto cell = call.read(metric, node);
    if (cell.empty()) return 0.0;  // the metric does not apply here
    return cell.known() ? std::optional<double>(cell.real()) : std::nullopt;
  };
  const auto macs = amount("macs"), ops = amount("other_flops");
  const auto read = amount("read_bytes"), written = amount("written_bytes");
  if (!macs || !ops || !read || !written) {
    warn_once(call, "energy leaves out " + std::string(node.op()) + ": its " +
                        (!macs || !ops ? "arithmetic" : "memory traffic") + " is unknown");
    return std::nullopt;
  }
  return Work{*macs, *ops, *read + *written, tmeter::op_class(node.op()), arithmetic_type(node)};
}

std::optional<double> Estimator::figure(const Lookup& lookup, Family family, const Work& work,
                                        const Call& call) {
  const auto found = profile_.figure(lookup, family, work.kind, work.type);
  const auto type = std::string(work.type.name());
  if (!found) {
    warn_once(call, quoted(profile_name_) + " has no figures for " + type +
                        " nor for a wider type: the energy of such operators is unavailable");
    return std::nullopt;
  }
  if (!same_arithmetic(work.type, found->type)) {
    warn_once(call, quoted(profile_name_) + " lacks figures for " + type + "; those for " +
                        std::string(found->type.name()) + " are used");
  }
  return found->value;
}

std::optional<double> Estimator::time_of(const Lookup& lookup, const Work& work, const Call& call) {
  Rates rates;
  rates.byte = bandwidth_;
  const auto class_key = std::string("efficiency.").append(tmeter::name_of(work.kind));
  rates.efficiency = lookup(class_key).value_or(1.0);
  if (work.macs > 0 && has_peak_mac_) {
    rates.mac = figure(lookup, Family::kPeakMac, work, call);
    if (!rates.mac) return std::nullopt;
  }
  if (work.ops > 0 && has_peak_op_) {
    rates.op = figure(lookup, Family::kPeakOp, work, call);
    if (!rates.op) return std::nullopt;
  }
  return roofline_time(work, rates);
}

Terms Estimator::terms_of(const Work& work, const Call& call) {
  const auto lookup = lookup_in(call);
  Terms terms;
  if (scope_.compute) {
    std::optional<double> mac, op;
    if (work.macs > 0) mac = figure(lookup, Family::kEnergyMac, work, call);
    if (work.ops > 0) op = figure(lookup, Family::kEnergyOp, work, call);
    terms.compute = compute_energy(work, mac, op);
  }
  if (scope_.memory) terms.memory = memory_energy(work, per_byte_);
  if (scope_.standing) {
    if (const auto seconds = time_of(lookup, work, call)) {
      terms.standing = static_energy(*seconds, power_);
    }
  }
  return terms;
}

}  // namespace energy
