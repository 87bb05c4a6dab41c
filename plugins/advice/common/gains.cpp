#include "gains.hpp"

#include <algorithm>
#include <map>
#include <tmeter/cpp/units.hpp>
#include "plugins/common/wording.hpp"

namespace advice {
namespace {

using machine::Work;
using tmeter::Finding;
using tmeter::Graph;
using tmeter::ModuleCall;
using tmeter::Node;

constexpr size_t kNamed = 4;

bool counted(const tmeter::Cell& cell) { return cell.known() || cell.empty(); }

/// The innermost call that has both.
ModuleCall common(ModuleCall a, ModuleCall b) {
  std::vector<const tmeter_module_call*> around;
  for (auto c = a; c; c = c.parent()) around.push_back(c.handle());
  while (b && std::find(around.begin(), around.end(), b.handle()) == around.end()) b = b.parent();
  return b;
}

/// Places that are told together.
struct Kind {
  std::string text;
  size_t count = 0;
  double bytes = 0;
};

std::vector<Kind> kinds_of(std::span<const Gain> gains) {
  std::vector<Kind> kinds;
  std::map<std::string_view, size_t> known;
  for (const auto& g : gains) {
    const auto [at, is_new] = known.try_emplace(g.kind, kinds.size());
    if (is_new) kinds.push_back({g.kind});
    ++kinds[at->second].count;
    kinds[at->second].bytes += g.saved.all();
  }
  return kinds;
}

Moved sum_of(std::span<const Gain> gains) {
  Moved sum;
  for (const auto& g : gains) sum += g.saved;
  return sum;
}

/// Empty when it is known of none of them.
std::optional<double> seconds_of_all(std::span<const Gain> gains) {
  std::optional<double> sum;
  for (const auto& g : gains)
    if (g.seconds) sum = sum.value_or(0) + *g.seconds;
  return sum;
}

std::string share_text(double part, double whole) {
  return whole > 0 ? plugins::percent(part / whole) : "nothing";
}

}  // namespace

tmeter::Cell count_cell(double number) {
  constexpr double kMost = 9e18;
  return number < kMost ? tmeter::Cell(tmeter::Count(static_cast<int64_t>(number)))
                        : tmeter::Cell::unsupported();
}

std::string bytes_text(double bytes) { return tmeter::scaled(bytes, TMETER_UNIT_BYTE, "B").text(); }
std::string seconds_text(double s) { return tmeter::scaled(s, TMETER_UNIT_SECOND, "s").text(); }

std::string kind_of(std::span<const Node> nodes) {
  std::string text;
  ModuleCall around;
  for (size_t i = 0; i < nodes.size(); ++i) {
    text += (i ? " → " : "") + std::string(tmeter::base_name(nodes[i].op()));
    around = i ? common(around, nodes[i].call()) : nodes[i].call();
  }
  // "relu in ReLU" says nothing.
  if (nodes.size() == 1 && around && around.nodes().size() == 1 && around.parent())
    around = around.parent();
  return around ? text + in_module(around.module()) : text;
}

std::string in_module(tmeter::Module module) {
  while (module && module.type().empty()) module = module.parent();
  return module ? " in " + std::string(module.type()) : "";
}

std::string kinds_text(std::span<const Gain> gains) {
  auto kinds = kinds_of(gains);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.bytes > b.bytes; });
  return plugins::listed(kinds.size(), kNamed, [&](size_t i) {
    return std::to_string(kinds[i].count) + " × " + kinds[i].text + " " +
           bytes_text(kinds[i].bytes);
  });
}

std::string counts_text(std::span<const Gain> gains) {
  auto kinds = kinds_of(gains);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.count > b.count; });
  return plugins::listed(kinds.size(), kNamed, [&](size_t i) {
    return std::to_string(kinds[i].count) + " × " + kinds[i].text;
  });
}

Ledger::Ledger(const Graph& graph, const tmeter::Call& call) : call_(call) {
  machine_.start(call);
  overhead_ = machine::Machine::number(call, "overhead.operator").value_or(0);
  can_tell_time_ = machine_.has_peak_mac() && machine_.bandwidth();
  for (const auto& node : graph.nodes()) {
    if (const auto m = moved_by(node)) moved_ += *m;
  }
  const auto predicted = call.read("predicted_time", TMETER_AXIS_MODEL, 0);
  if (can_tell_time_ && predicted.known()) seconds_ = predicted.real();
}

std::optional<Moved> Ledger::moved_by(const Node& node) const {
  const auto read = call_.read("read_bytes", node), written = call_.read("written_bytes", node);
  if (!counted(read) || !counted(written)) return std::nullopt;
  return Moved{read.real(), written.real()};
}

/// Without the warnings of Machine::work_of, which roofline gives already.
std::optional<Work> Ledger::work_of(const Node& node) {
  for (const auto* metric : {"macs", "other_flops", "read_bytes", "written_bytes"})
    if (!counted(call_.read(metric, node))) return std::nullopt;
  return machine_.work_of(node, call_);
}

std::optional<double> Ledger::seconds_of(std::span<const Work> parts) {
  if (!can_tell_time_) return std::nullopt;
  const auto idle = [](const Work& w) { return w.macs == 0 && w.ops == 0 && w.bytes == 0; };
  if (std::all_of(parts.begin(), parts.end(), idle)) return 0;  // a view: nobody waits for it
  const auto times = machine_.times_of(parts, call_);
  return times ? std::optional(times->longer() + overhead_) : std::nullopt;
}

std::optional<machine::Times> Ledger::times_of(const Node& node) {
  const auto work = work_of(node);
  if (!work || !can_tell_time_) return std::nullopt;
  return machine_.times_of({&*work, 1}, call_);
}

std::optional<Gain> Ledger::merged(std::vector<Node> nodes, const Moved& saved,
                                   tmeter::OpClass kind, size_t gone) {
  std::vector<Work> after;
  std::optional<double> seconds = 0;
  double bytes = -saved.all();
  for (size_t i = 0; i < nodes.size(); ++i) {
    auto work = work_of(nodes[i]);
    if (!work) return std::nullopt;
    const auto before = seconds_of({&*work, 1});
    seconds = seconds && before ? std::optional(*seconds + *before) : std::nullopt;
    bytes += work->bytes;
    if (i + gone >= nodes.size()) continue;
    work->kind = work->macs > 0 ? kind : work->kind;
    work->bytes = 0;
    after.push_back(*work);
  }
  // What multiplies decides how fast memory is, as caches serve classes of work differently.
  auto main = std::find_if(after.begin(), after.end(), [](const Work& w) { return w.macs > 0; });
  (main == after.end() ? after.front() : *main).bytes = std::max(bytes, 0.0);
  const auto then = seconds_of(after);
  seconds = seconds && then ? std::optional(std::max(*seconds - *then, 0.0)) : std::nullopt;
  auto text = kind_of(nodes);
  return Gain{std::move(nodes), saved, seconds, std::move(text)};
}

std::optional<Gain> Ledger::dropped(std::vector<Node> nodes) {
  Moved saved;
  std::optional<double> seconds = 0;
  for (const auto& node : nodes) {
    const auto work = work_of(node);
    if (!work) return std::nullopt;
    saved += *moved_by(node);
    const auto before = seconds_of({&*work, 1});
    seconds = seconds && before ? std::optional(*seconds + *before) : std::nullopt;
  }
  auto text = kind_of(nodes);
  return Gain{std::move(nodes), saved, seconds, std::move(text)};
}

std::optional<Gain> Ledger::converted(const Node& node, tmeter::DType from, tmeter::DType to,
                                      const Moved& less) {
  const auto work = work_of(node);
  if (!work) return std::nullopt;
  auto saved = *moved_by(node);
  saved.read *= less.read, saved.written *= less.written;
  auto then = *work;
  then.bytes -= saved.all();
  if (then.type == from) then.type = to;
  return changed(node, *work, then, saved);
}

std::optional<Gain> Ledger::sped_up(const Node& node, tmeter::DType type, double factor) {
  const auto work = work_of(node);
  if (!work || !(work->type == type) || work->macs <= 0 || !can_tell_time_) return std::nullopt;
  auto then = *work;
  then.macs /= factor;
  return changed(node, *work, then, {});
}

Gain Ledger::changed(const Node& node, const Work& now, const Work& then, const Moved& saved) {
  const auto before = seconds_of({&now, 1}), after = seconds_of({&then, 1});
  std::optional<double> seconds;
  if (before && after) seconds = std::max(*before - *after, 0.0);
  const Node nodes[]{node};
  return {{node}, saved, seconds, kind_of(nodes)};
}

bool Ledger::matter(std::span<const Gain> gains, double share) const {
  if (gains.empty()) return false;
  const auto seconds = seconds_of_all(gains);
  if (seconds && seconds_) return *seconds > 0 && *seconds >= share * *seconds_;
  const double bytes = sum_of(gains).all();
  return bytes > 0 && bytes >= share * moved_.all();
}

void Ledger::report(Finding& f, std::span<const Gain> gains) const {
  f.evidence = kinds_text(gains) + (f.evidence.empty() ? "" : "; ") + f.evidence;
  f.evidence += measured_text(gains);
  report_totals(f, gains);
}

double Ledger::measured_gone(const Gain& gain) const {
  double gone = 0, slowest = 0;
  for (const auto& node : gain.gone) gone += call_.read("op_time", node).real();
  if (!gain.gone.empty()) return gone;
  bool multiplies = false;
  for (const auto& node : gain.nodes) {
    if (call_.read("macs", node).real() > 0) {
      multiplies = true;
      continue;
    }
    const double seconds = call_.read("op_time", node).real();
    gone += seconds;
    slowest = std::max(slowest, seconds);
  }
  return multiplies || gain.nodes.size() == 1 ? gone : gone - slowest;
}

std::string Ledger::measured_text(std::span<const Gain> gains) const {
  const auto whole = call_.read("op_time", TMETER_AXIS_MODEL, 0);
  if (!whole.known() || whole.real() <= 0) return {};
  double gone = 0;
  for (const auto& gain : gains) gone += measured_gone(gain);
  if (gone <= 0) return {};
  return "; as measured here, what would be gone takes " + seconds_text(gone) + " (" +
         share_text(gone, whole.real()) + ")";
}

void Ledger::report_totals(Finding& f, std::span<const Gain> gains) const {
  const auto bytes = sum_of(gains).all();
  const auto seconds = seconds_of_all(gains);
  std::string text;
  if (bytes > 0) text = share_text(bytes, moved_.all()) + " less to read and write";
  if (seconds && seconds_)
    text += (text.empty() ? "" : ", ") + share_text(*seconds, *seconds_) + " less time on " +
            std::string(call_.hardware_name());
  f.text += ": " + text;
  complete(f, gains);
}

void Ledger::complete(Finding& f, std::span<const Gain> gains) const {
  const auto saved = sum_of(gains);
  const auto seconds = seconds_of_all(gains);
  for (const auto& g : gains)
    for (const auto& node : g.nodes) f.about(node);
  if (saved.read > 0) f.changes.push_back({"read_bytes", moved_.read, moved_.read - saved.read});
  if (saved.written > 0)
    f.changes.push_back({"written_bytes", moved_.written, moved_.written - saved.written});
  if (seconds && seconds_ && *seconds > 0)
    f.changes.push_back({"predicted_time", *seconds_, std::max(*seconds_ - *seconds, 0.0)});
}

}  // namespace advice
