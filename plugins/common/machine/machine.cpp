#include "plugins/common/machine/machine.hpp"

#include <algorithm>
#include <cmath>
#include <tmeter/cpp/node_class.hpp>

#include "plugins/common/machine/layout.hpp"

namespace machine {
namespace {

using tmeter::Call;
using tmeter::DTypeClass;
using tmeter::Node;
using tmeter::Value;

/// The profile can only be read through the current call.
Lookup lookup_in(const Call& call) {
  return [&call](const std::string& key) -> std::optional<double> {
    double value = 0;
    if (!call.hardware_number(key, value)) return std::nullopt;
    return value;
  };
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

/// The type of the arithmetic: the type of the first floating, complex or quantized argument
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

bool multiplies(OpClass kind) {
  return kind == OpClass::kConvolution || kind == OpClass::kMatmul || kind == OpClass::kAttention ||
         kind == OpClass::kRecurrent;
}

/// The class that a plugin gives its own operators, else the class by name. An unknown operator
/// with MACs counts as a matrix product.
OpClass class_of(const Node& node, double macs, const Call& call) {
  const auto kind = tmeter::op_class(node, call);
  return kind == OpClass::kOther && macs > 0 ? OpClass::kMatmul : kind;
}

tmeter::Value first_tensor(const Node& n) {
  const auto input = n.arg("input");
  return input.is_tensor() ? input : n.arg("self");
}

/// Bytes of a row of a softmax or norm, whose kernels read it more than once; 0 for other
/// operators.
double row_bytes(const Node& n, OpClass kind) {
  const auto x = first_tensor(n);
  if (!x.is_tensor() || x.shape().rank() == 0) return 0;
  const auto rank = x.shape().rank();
  int64_t from = rank, to = rank;
  if (kind == OpClass::kSoftmax) {
    const auto dim = n.arg("dim").as_int(-1);
    from = dim < 0 ? dim + rank : dim;
    to = from + 1;
  } else if (kind == OpClass::kNormalization) {
    from = rank - static_cast<int64_t>(n.arg("normalized_shape").size());
  }
  if (from < 0 || to > rank || from >= to) return 0;
  return static_cast<double>((x.shape().product(from, to) * x.dtype().bytes()).value());
}

}  // namespace

std::string Machine::quoted_name() const {
  return std::string("hardware profile '").append(name_).append("'");
}

void Machine::start(const Call& call) {
  const auto lookup = lookup_in(call);
  profile_.forget();
  bandwidths_.clear();
  warned_.clear();
  name_ = call.hardware_name();
  bandwidth_ = lookup("peak.dram");
  has_peak_mac_ = Profile::has(lookup, Family::kPeakMac);
  has_peak_op_ = Profile::has(lookup, Family::kPeakOp);
}

bool Machine::has(const Call& call, Family family) { return Profile::has(lookup_in(call), family); }

std::optional<double> Machine::number(const Call& call, const std::string& key) {
  return lookup_in(call)(key);
}

void Machine::warn_once(const Call& call, const std::string& message) {
  if (warns_ && warned_.insert(message).second) call.warn(message);
}

std::optional<Work> Machine::work_of(const Node& node, const Call& call) {
  const auto amount = [&](std::string_view metric) -> std::optional<double> {
    const auto cell = call.read(metric, node);
    if (cell.empty()) return 0.0;  // the metric does not apply here
    return cell.known() ? std::optional<double>(cell.real()) : std::nullopt;
  };
  const auto macs = amount("macs"), ops = amount("other_flops");
  const auto read = amount("read_bytes"), written = amount("written_bytes");
  if (!macs || !ops || !read || !written) {
    warn_once(call, what_ + " leaves out " + std::string(node.op()) + ": its " +
                        (!macs || !ops ? "arithmetic" : "memory traffic") + " is unknown");
    return std::nullopt;
  }
  const auto kind = class_of(node, *macs, call);
  return Work{*macs,
              *ops,
              *read + *written,
              kind,
              arithmetic_type(node),
              row_bytes(node, kind),
              layout_of(node, kind)};
}

/// The amounts counted at an operator inside a module call; amounts counted elsewhere are 0.
std::optional<Machine::Amounts> Machine::amounts_inside(const Node& node, const Call& call) const {
  constexpr std::array<std::string_view, 4> kMetrics{"macs", "other_flops", "read_bytes",
                                                     "written_bytes"};
  Amounts out{};
  for (size_t i = 0; i < kMetrics.size(); ++i) {
    const auto cell = call.read(kMetrics[i], node);
    if (!cell.known() && !cell.empty() && !cell.in_module()) return std::nullopt;
    out[std::min<size_t>(i, 2)] += cell.real();
  }
  return out;
}

std::optional<std::vector<Work>> Machine::work_of(const tmeter::ModuleCall& m, const Call& call,
                                                  bool& partial) {
  const auto macs = call.read("macs", m), ops = call.read("other_flops", m);
  const auto read = call.read("read_bytes", m), written = call.read("written_bytes", m);
  for (const auto& cell : {macs, ops, read, written}) {
    if (!cell.known() && !cell.empty()) return std::nullopt;
    partial = partial || cell.partial();
  }
  std::vector<Work> parts;
  Work rest{macs.real(), ops.real(), read.real() + written.real(), OpClass::kOther, DType()};
  for (const auto& node : m.nodes()) {
    const auto kind = tmeter::op_class(node, call);
    const auto type = arithmetic_type(node);
    // The work given as a whole counts as work of the first operator that multiplies.
    if (!rest.type.known() || (!multiplies(rest.kind) && multiplies(kind)))
      rest.kind = kind, rest.type = type;
    const auto amounts = amounts_inside(node, call);
    if (!amounts) continue;  // its known amounts are counted in `rest`
    parts.push_back({(*amounts)[0], (*amounts)[1], (*amounts)[2],
                     class_of(node, (*amounts)[0], call), type, row_bytes(node, kind),
                     layout_of(node, kind)});
    rest.macs -= (*amounts)[0], rest.ops -= (*amounts)[1], rest.bytes -= (*amounts)[2];
  }
  if (rest.kind == OpClass::kOther && rest.macs > 0) rest.kind = OpClass::kMatmul;  // like class_of
  parts.push_back(rest);
  return parts;
}

std::optional<double> Machine::value_for(Family family, const Work& work, const Call& call) {
  const auto found = profile_.value_for(lookup_in(call), family, work.kind, work.type);
  const auto type = std::string(work.type.name());
  if (!found) {
    warn_once(call, quoted_name() + " has no values for " + type + " nor for a wider type: the " +
                        what_ + " of such operators is unavailable");
    return std::nullopt;
  }
  if (!same_arithmetic(work.type, found->type)) {
    warn_once(call, quoted_name() + " lacks values for " + type + "; those for " +
                        std::string(found->type.name()) + " are used");
  }
  return found->value;
}

std::optional<double> Machine::arithmetic_of(const Work& work, const Call& call) {
  Rates rates;
  const auto class_key = std::string("efficiency.").append(tmeter::name_of(work.kind));
  rates.efficiency = number(call, class_key).value_or(1.0);
  if (work.macs > 0 && has_peak_mac_) {
    rates.mac = value_for(Family::kPeakMac, work, call);
    if (!rates.mac) return std::nullopt;
  }
  if (work.ops > 0 && has_peak_op_) {
    rates.op = value_for(Family::kPeakOp, work, call);
    if (!rates.op) return std::nullopt;
  }
  return arithmetic_seconds(work, rates);
}

std::optional<double> Machine::bandwidth_of(OpClass kind, const Call& call) {
  const auto [at, is_new] = bandwidths_.try_emplace(kind);
  if (is_new) {
    at->second = number(call, std::string("bandwidth.").append(tmeter::name_of(kind)));
    if (!at->second) at->second = bandwidth_;
  }
  return at->second;
}

std::optional<Times> Machine::times_of(std::span<const Work> parts, const Call& call) {
  Times times;
  for (const auto& work : parts) {
    const auto seconds = arithmetic_of(work, call);
    if (!seconds) return std::nullopt;
    times.arithmetic += *seconds;
    times.memory += seconds_at(work.bytes, bandwidth_of(work.kind, call));
  }
  if (std::isfinite(times.arithmetic) && std::isfinite(times.memory)) return times;
  warn_once(call, quoted_name() + " has rates so small that nothing would ever end: the " + what_ +
                      " of such operators is unavailable");
  return std::nullopt;
}

}  // namespace machine
