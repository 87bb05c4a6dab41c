#include <algorithm>
#include <optional>
#include <set>

#include "plugins/advice/common/savings.hpp"
#include "plugins/common/uses.hpp"
#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace parallelism {

double Scaling::time(double n) const {
  double sum = fixed;
  for (const auto& w : operators)
    sum += std::max(n * w.arithmetic, w.weights + n * w.activations) + overhead;
  return sum;
}

double Scaling::limit() const {
  double sum = 0;
  for (const auto& w : operators) sum += std::max(w.arithmetic, w.activations);
  return sum;
}

double Scaling::efficiency(double n) const {
  const double t = time(n);
  return t > 0 ? n * limit() / t : 1;
}

Choice choose(const Scaling& scaling, const Memory& memory, double share) {
  constexpr int64_t kMaxFactor = int64_t{1} << 20;
  Choice out;
  while (out.factor < kMaxFactor && scaling.efficiency(static_cast<double>(out.factor)) < share) {
    if (!memory.fits(static_cast<double>(2 * out.factor))) {
      out.limited_by_memory = true;
      break;
    }
    out.factor *= 2;
  }
  return out;
}

// Batch headroom: weights are read once per batch, so a larger batch needs less time per sample,
// until arithmetic or activations dominate.

namespace {

using tmeter::Value;

/// Share of the throughput of an infinite batch that is enough: doubling the batch for the last
/// tenth does not pay. Our choice.
constexpr double kTargetEfficiency = 0.9;
/// Smallest gain in throughput that is reported.
constexpr double kMinGain = 1.2;

/// Dim 0 of all inputs and outputs; empty if they differ, because then no dim is known to be the
/// batch.
std::optional<int64_t> batch_of(const tmeter::Graph& graph) {
  std::set<int64_t> seen;
  bool scalars = false;
  const auto look = [&](const Value& v) {
    if (v.shape().rank() > 0)
      seen.insert(v.shape()[0]);
    else
      scalars = true;
  };
  for (const auto& input : graph.inputs()) plugins::for_each_tensor(input, look);
  if (seen.empty()) return std::nullopt;
  for (const auto& output : graph.outputs()) plugins::for_each_tensor(output, look);
  return seen.size() == 1 && !scalars && *seen.begin() > 0 ? std::optional(*seen.begin())
                                                           : std::nullopt;
}

std::optional<Scaling> scaling_of(Model& model) {
  Scaling out;
  const plugins::DependsOnInputs depends_on_inputs(model.graph);
  out.overhead = model.estimator.overhead();
  for (const auto& node : model.graph.nodes()) {
    const auto times = model.estimator.times_of(node);
    const auto traffic = model.estimator.traffic_of(node);
    if (!times || !traffic) return std::nullopt;
    if (traffic->all() == 0 && times->arithmetic == 0) continue;  // a view
    if (!depends_on_inputs(node)) {
      out.fixed += times->longer() + out.overhead;
      continue;
    }
    const double weights = std::min(advice::fixed_bytes(node, depends_on_inputs), traffic->read);
    const double share = traffic->all() > 0 ? weights / traffic->all() : 0;
    out.operators.push_back(
        {times->arithmetic, times->memory * share, times->memory * (1 - share)});
  }
  return out;
}

Memory memory_of(const Model& model) {
  Memory out;
  for (const auto& t : model.graph.tensors())
    if (!t.is_tied() && t.dtype().bytes() > 0) out.fixed += plugins::bytes_of(t);
  out.per_batch = model.call.read("peak_activation_bytes", TMETER_AXIS_MODEL, 0).real();
  if (!model.call.hardware_number("capacity.dram", out.capacity)) out.capacity = 0;
  return out;
}

/// "22.4 samples/s"
std::string rate_text(double samples, double seconds) {
  return tmeter::scaled(samples / seconds, TMETER_UNIT_OTHER, "IPS").text();
}

std::string memory_text(const Memory& memory, double n) {
  auto text = advice::bytes_text(memory.at(n));
  if (memory.capacity > 0) text += " of " + advice::bytes_text(memory.capacity);
  return text;
}

}  // namespace

void report_batch(Model& model) {
  const auto give = [&](tmeter::Cell value, std::string_view why) {
    model.call.emit(kBatchEfficiency, TMETER_AXIS_MODEL, 0, value);
    model.call.set_provenance(
        kBatchEfficiency, why.empty() ? TMETER_PROVENANCE_ESTIMATED : TMETER_PROVENANCE_UNAVAILABLE,
        why.empty() ? "roofline on hardware profile " + std::string(model.call.hardware_name())
                    : std::string(why));
  };
  const auto batch = batch_of(model.graph);
  if (!batch)
    return give(tmeter::Cell::unavailable(), "inputs and outputs differ in their first dim");
  const auto scaling = scaling_of(model);
  if (!scaling || scaling->operators.empty() || scaling->limit() <= 0)
    return give(tmeter::Cell::unavailable(), "some operators have no predicted time");
  give(tmeter::Cell(scaling->efficiency(1)), {});
  const auto memory = memory_of(model);
  const auto [factor, full] = choose(*scaling, memory, kTargetEfficiency);
  const auto n = static_cast<double>(factor), samples = static_cast<double>(*batch);
  const double now = scaling->time(1), then = scaling->time(n);
  const double gain = n * now / then;
  if (factor == 1 || gain < kMinGain) return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "batch-headroom";
  f.text = "a batch of " + std::to_string(factor * *batch) + " instead of " +
           std::to_string(*batch) + " gives " + tmeter::fixed(gain, 1) +
           " times the throughput on " + std::string(model.call.hardware_name());
  f.evidence = rate_text(samples * n, then) + " instead of " + rate_text(samples, now) + ", " +
               advice::seconds_text(then) + " instead of " + advice::seconds_text(now) +
               " a run, " + plugins::percent(scaling->efficiency(n)) +
               " of the throughput of an infinite batch; " + memory_text(memory, n) +
               " of memory for weights and activations";
  if (scaling->overhead <= 0)
    f.evidence += "; without call overhead, because the profile has no overhead.operator";
  if (full) f.evidence += "; twice the batch does not fit";
  f.action =
      "collect requests and run them together; predicted by the roofline, with dim 0 of the inputs "
      "as the batch and weights read once per batch";
  model.call.add(f);
}

}  // namespace parallelism
