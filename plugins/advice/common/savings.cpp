#include "plugins/advice/common/savings.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tmeter/cpp/op_class.hpp>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/wording.hpp"

namespace advice {
namespace {

using machine::Work;
using tmeter::Finding;
using tmeter::Graph;
using tmeter::ModuleCall;
using tmeter::Node;

constexpr size_t kKindsNamed = 4;

bool counted(const tmeter::Cell& cell) { return cell.known() || cell.empty(); }

/// The innermost call around both.
ModuleCall innermost_common(ModuleCall a, ModuleCall b) {
  std::vector<const tmeter_module_call*> around;
  for (auto c = a; c; c = c.parent()) around.push_back(c.handle());
  while (b && std::find(around.begin(), around.end(), b.handle()) == around.end()) b = b.parent();
  return b;
}

/// Places reported together.
struct Kind {
  std::string text;
  size_t count = 0;
  double bytes = 0;
};

std::vector<Kind> kinds_of(std::span<const Saving> savings) {
  std::vector<Kind> kinds;
  std::map<std::string_view, size_t> kind_indices;
  for (const auto& g : savings) {
    const auto [at, is_new] = kind_indices.try_emplace(g.kind, kinds.size());
    if (is_new) kinds.push_back({g.kind});
    ++kinds[at->second].count;
    kinds[at->second].bytes += g.saved.all();
  }
  return kinds;
}

Traffic sum_of(std::span<const Saving> savings) {
  Traffic sum;
  for (const auto& g : savings) sum += g.saved;
  return sum;
}

/// The sum over savings with a known time; empty without any.
std::optional<double> seconds_of_all(std::span<const Saving> savings) {
  std::optional<double> sum;
  for (const auto& g : savings)
    if (g.seconds) sum = sum.value_or(0) + *g.seconds;
  return sum;
}

std::string share_text(double part, double whole) {
  return whole > 0 ? plugins::percent(part / whole) : "nothing";
}

}  // namespace

tmeter::Cell count_cell(double number) {
  constexpr double kMaxCount = 9e18;
  return number < kMaxCount ? tmeter::Cell(tmeter::Count(static_cast<int64_t>(number)))
                            : tmeter::Cell::unsupported();
}

std::string seconds_text(double s) { return tmeter::scaled(s, TMETER_UNIT_SECOND, "s").text(); }

std::string kind_of(std::span<const Node> nodes) {
  std::string text;
  ModuleCall around;
  for (size_t i = 0; i < nodes.size(); ++i) {
    text += (i ? " → " : "") + std::string(tmeter::base_name(nodes[i].op()));
    around = i ? innermost_common(around, nodes[i].call()) : nodes[i].call();
  }
  // "relu in ReLU" would name the operator twice.
  if (nodes.size() == 1 && around && around.nodes().size() == 1 && around.parent())
    around = around.parent();
  return around ? text + in_module(around.module()) : text;
}

std::string in_module(tmeter::Module module) {
  while (module && module.type().empty()) module = module.parent();
  return module ? " in " + std::string(module.type()) : "";
}

std::string kinds_text(std::span<const Saving> savings) {
  auto kinds = kinds_of(savings);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.bytes > b.bytes; });
  return plugins::listed(kinds.size(), kKindsNamed, [&](size_t i) {
    return std::to_string(kinds[i].count) + " × " + kinds[i].text + " " +
           bytes_text(kinds[i].bytes);
  });
}

std::string counts_text(std::span<const Saving> savings) {
  auto kinds = kinds_of(savings);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.count > b.count; });
  return plugins::listed(kinds.size(), kKindsNamed, [&](size_t i) {
    return std::to_string(kinds[i].count) + " × " + kinds[i].text;
  });
}

SavingsEstimator::SavingsEstimator(const Graph& graph, const tmeter::Call& call) : call_(call) {
  machine_.start(call);
  overhead_ = machine::Machine::number(call, "overhead.operator").value_or(0);
  has_rates_ = machine_.has_peak_mac() && machine_.bandwidth();
  for (const auto& node : graph.nodes()) {
    if (const auto m = traffic_of(node)) traffic_ += *m;
  }
  const auto predicted = call.read("predicted_time", TMETER_AXIS_MODEL, 0);
  if (has_rates_ && predicted.known()) seconds_ = predicted.real();
}

std::optional<Traffic> SavingsEstimator::traffic_of(const Node& node) const {
  const auto read = call_.read("read_bytes", node), written = call_.read("written_bytes", node);
  if (!counted(read) || !counted(written)) return std::nullopt;
  return Traffic{read.real(), written.real()};
}

/// The work without the warnings of Machine::work_of, which the plugin roofline emits already.
std::optional<Work> SavingsEstimator::work_of(const Node& node) {
  for (const auto* metric : {"macs", "other_flops", "read_bytes", "written_bytes"})
    if (!counted(call_.read(metric, node))) return std::nullopt;
  return machine_.work_of(node, call_);
}

std::optional<double> SavingsEstimator::seconds_of(std::span<const Work> parts) {
  if (!has_rates_) return std::nullopt;
  const auto idle = [](const Work& w) { return w.macs == 0 && w.ops == 0 && w.bytes == 0; };
  if (std::all_of(parts.begin(), parts.end(), idle)) return 0;  // a view costs no time
  const auto times = machine_.times_of(parts, call_);
  return times ? std::optional(times->longer() + overhead_) : std::nullopt;
}

std::optional<machine::Times> SavingsEstimator::times_of(const Node& node) {
  const auto work = work_of(node);
  if (!work || !has_rates_) return std::nullopt;
  return machine_.times_of({&*work, 1}, call_);
}

std::optional<Saving> SavingsEstimator::merged(std::vector<Node> nodes, const Traffic& saved,
                                               tmeter::OpClass kind, size_t removed) {
  std::vector<Work> after;
  std::optional<double> seconds = 0;
  double bytes = -saved.all();
  for (size_t i = 0; i < nodes.size(); ++i) {
    auto work = work_of(nodes[i]);
    if (!work) return std::nullopt;
    const auto before = seconds_of({&*work, 1});
    seconds = seconds && before ? std::optional(*seconds + *before) : std::nullopt;
    bytes += work->bytes;
    if (i + removed >= nodes.size()) continue;
    work->kind = work->macs > 0 ? kind : work->kind;
    work->bytes = 0;
    after.push_back(*work);
  }
  // The bandwidth depends on the class of work, because caches serve classes differently.
  // Here it is the class of the operator that multiplies.
  auto main = std::find_if(after.begin(), after.end(), [](const Work& w) { return w.macs > 0; });
  (main == after.end() ? after.front() : *main).bytes = std::max(bytes, 0.0);
  const auto then = seconds_of(after);
  seconds = seconds && then ? std::optional(std::max(*seconds - *then, 0.0)) : std::nullopt;
  auto text = kind_of(nodes);
  return Saving{std::move(nodes), saved, seconds, std::move(text)};
}

std::optional<Saving> SavingsEstimator::removed(std::vector<Node> nodes) {
  Traffic saved;
  std::optional<double> seconds = 0;
  for (const auto& node : nodes) {
    const auto work = work_of(node);
    if (!work) return std::nullopt;
    saved += *traffic_of(node);
    const auto before = seconds_of({&*work, 1});
    seconds = seconds && before ? std::optional(*seconds + *before) : std::nullopt;
  }
  auto text = kind_of(nodes);
  return Saving{std::move(nodes), saved, seconds, std::move(text)};
}

std::optional<Saving> SavingsEstimator::converted(const Node& node, tmeter::DType from,
                                                  tmeter::DType to, const Traffic& less) {
  const auto work = work_of(node);
  if (!work) return std::nullopt;
  auto saved = *traffic_of(node);
  saved.read *= less.read, saved.written *= less.written;
  auto then = *work;
  then.bytes -= saved.all();
  if (then.type == from) then.type = to;
  return changed(node, *work, then, saved);
}

std::optional<Saving> SavingsEstimator::faster_by(const Node& node, tmeter::DType type,
                                                  double factor) {
  const auto work = work_of(node);
  if (!work || !(work->type == type) || work->macs <= 0 || !has_rates_) return std::nullopt;
  auto then = *work;
  then.macs /= factor;
  return changed(node, *work, then, {});
}

Saving SavingsEstimator::changed(const Node& node, const Work& now, const Work& then,
                                 const Traffic& saved) {
  const auto before = seconds_of({&now, 1}), after = seconds_of({&then, 1});
  std::optional<double> seconds;
  if (before && after) seconds = std::max(*before - *after, 0.0);
  const Node nodes[]{node};
  return {{node}, saved, seconds, kind_of(nodes)};
}

bool SavingsEstimator::are_worthwhile(std::span<const Saving> savings, double share) const {
  if (savings.empty()) return false;
  const auto seconds = seconds_of_all(savings);
  if (seconds && seconds_) return *seconds > 0 && *seconds >= share * *seconds_;
  const double bytes = sum_of(savings).all();
  return bytes > 0 && bytes >= share * traffic_.all();
}

void SavingsEstimator::report(Finding& f, std::span<const Saving> savings) const {
  f.evidence = kinds_text(savings) + (f.evidence.empty() ? "" : "; ") + f.evidence;
  f.evidence += measured_text(savings);
  report_totals(f, savings);
}

double SavingsEstimator::measured_seconds_removed(const Saving& saving) const {
  double removed = 0, slowest = 0;
  for (const auto& node : saving.removed) removed += call_.read("op_time", node).real();
  if (!saving.removed.empty()) return removed;
  bool multiplies = false;
  for (const auto& node : saving.nodes) {
    if (call_.read("macs", node).real() > 0) {
      multiplies = true;
      continue;
    }
    const double seconds = call_.read("op_time", node).real();
    removed += seconds;
    slowest = std::max(slowest, seconds);
  }
  return multiplies || saving.nodes.size() == 1 ? removed : removed - slowest;
}

std::string SavingsEstimator::measured_text(std::span<const Saving> savings) const {
  const auto whole = call_.read("op_time", TMETER_AXIS_MODEL, 0);
  if (!whole.known() || whole.real() <= 0) return {};
  double removed = 0;
  for (const auto& saving : savings) removed += measured_seconds_removed(saving);
  if (removed <= 0) return {};
  return "; the operators removed took " + seconds_text(removed) + " (" +
         share_text(removed, whole.real()) + ") when measured here";
}

void SavingsEstimator::report_totals(Finding& f, std::span<const Saving> savings) const {
  const auto bytes = sum_of(savings).all();
  const auto seconds = seconds_of_all(savings);
  std::string text;
  if (bytes > 0) text = share_text(bytes, traffic_.all()) + " less memory traffic";
  if (seconds && seconds_)
    text += (text.empty() ? "" : ", ") + share_text(*seconds, *seconds_) + " less time on " +
            std::string(call_.hardware_name());
  f.text += ": " + text;
  complete(f, savings);
}

void SavingsEstimator::complete(Finding& f, std::span<const Saving> savings) const {
  const auto saved = sum_of(savings);
  const auto seconds = seconds_of_all(savings);
  for (const auto& g : savings)
    for (const auto& node : g.nodes) f.about(node);
  if (saved.read > 0)
    f.changes.push_back({"read_bytes", traffic_.read, traffic_.read - saved.read});
  if (saved.written > 0)
    f.changes.push_back({"written_bytes", traffic_.written, traffic_.written - saved.written});
  if (seconds && seconds_ && *seconds > 0)
    f.changes.push_back({"predicted_time", *seconds_, std::max(*seconds_ - *seconds, 0.0)});
}

double fixed_bytes(const tmeter::Node& node, const plugins::DependsOnInputs& depends_on_inputs) {
  const auto kind = tmeter::op_class(node.op());
  if (kind == tmeter::OpClass::kEmbedding || kind == tmeter::OpClass::kGather) return 0;
  std::set<const void*> counted_ids;
  double bytes = 0;
  plugins::for_each_input(node, [&](const tmeter::Value& v) {
    if (depends_on_inputs(v)) return;
    const auto t = v.tensor();
    const void* id =
        t ? static_cast<const void*>(t.canonical().handle()) : static_cast<const void*>(v.handle());
    if (counted_ids.insert(id).second) bytes += plugins::bytes_of(v);
  });
  return bytes;
}

}  // namespace advice
