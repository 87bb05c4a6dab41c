#include "peak.hpp"

#include <algorithm>
#include <tmeter/cpp/node_class.hpp>
#include <tmeter/cpp/units.hpp>

#include "lifetimes.hpp"
#include "plugins/common/wording.hpp"
#include "traffic.hpp"

namespace memory {
namespace {

using plugins::bytes_text;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Node;

constexpr size_t kTensorsNamed = 4;

std::string name_of(const Storage& s, const tmeter::Graph& graph) {
  return s.maker ? "the output of " + plugins::place(s.maker)
                 : "input " + std::string(graph.input_name(s.input));
}

/// The largest live tensors: "input x 588.00 KiB, the output of conv1 (aten::conv2d) 3.06 MiB".
std::string alive_text(const Lifetimes& l, size_t at, const tmeter::Graph& graph) {
  std::vector<const Storage*> alive;
  for (const auto& s : l.storages)
    if (s.first <= at && at <= s.last && s.bytes > Count(0)) alive.push_back(&s);
  std::stable_sort(alive.begin(), alive.end(),
                   [](const Storage* a, const Storage* b) { return a->bytes > b->bytes; });
  std::string text = "live tensors: ";
  for (size_t i = 0; i < std::min(kTensorsNamed, alive.size()); ++i)
    text += (i ? ", " : "") + name_of(*alive[i], graph) + " " + bytes_text(alive[i]->bytes);
  if (alive.size() > kTensorsNamed)
    text += " and " + std::to_string(alive.size() - kTensorsNamed) + " more";
  return text;
}

}  // namespace

bool counts_in_place(const tmeter::Call& call) {
  return call.option_text("convention") == "torchstat";
}

std::optional<Count> made_by(const Node& node, const tmeter::Call& call) {
  const auto cell = call.read("output_bytes", node);
  const auto worked_out = [&] { return traffic_of(node, call); };
  if (cell.empty() || cell.in_module()) return worked_out().output;
  if (counts_in_place(call) && cell.count() == worked_out().results) return worked_out().output;
  if (cell.is_zero_by_rule()) return Count(0);
  return cell.is_int() ? std::optional<Count>(cell.count()) : std::nullopt;
}

std::optional<size_t> shared_by(const Node& node, size_t result, const tmeter::Call& call) {
  if (tmeter::is_common_op(node.op())) return std::nullopt;
  const auto memory = call.memory_of(node, result);
  return memory.of_argument() ? std::optional(memory.argument) : std::nullopt;
}

void find_peak(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto l = lifetimes(
      graph, [&](const Node& n) { return made_by(n, call); },
      [&](const Node& n, size_t result) { return shared_by(n, result, call); });
  for (size_t i = 0; i < l.alive.size(); ++i)
    call.emit(kPeak, TMETER_AXIS_NODE, i, l.complete ? Cell(l.alive[i]) : Cell::unsupported());
  if (l.alive.empty() || !l.complete) return;
  const size_t at = peak_of(l);
  const auto node = graph.nodes()[at];
  tmeter::Finding finding;
  finding.rule = "memory-peak";
  finding.text = "activations take at most " + bytes_text(l.alive[at]) + ", while " +
                 plugins::place(node) + " runs";
  finding.evidence = alive_text(l, at, graph);
  call.add(finding.about(node));
}

}  // namespace memory
