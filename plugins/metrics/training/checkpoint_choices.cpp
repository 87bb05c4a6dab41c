#include "checkpoint_choices.hpp"

#include <algorithm>
#include <map>

namespace training {
namespace {

using tmeter::Count;
using tmeter::ModuleCall;

constexpr size_t kMaxTypes = 64;

/// The outermost calls of each type; the type of a container does not describe its modules.
std::map<std::string_view, std::vector<ModuleCall>> calls_by_type(const tmeter::Graph& graph) {
  std::map<std::string_view, std::vector<ModuleCall>> out;
  for (const auto& call : graph.module_calls()) {
    const auto type = call.module().type();
    if (type.empty() || type == "Sequential" || !call.parent()) continue;
    bool inside = false;
    for (auto up = call.parent(); up && !inside; up = up.parent())
      inside = up.module().type() == type;
    if (!inside) out[type].push_back(call);
  }
  return out;
}

Count sum_of(const std::vector<std::optional<Count>>& bytes) {
  Count sum = 0;
  for (const auto& b : bytes) sum += b.value_or(0);
  return sum;
}

/// The operations that run again: two per multiply-accumulate, one per element of a result.
double work_of(const tmeter::Graph& graph, const Regions& regions, const std::vector<Count>& macs) {
  double work = 0;
  for (const auto& node : graph.nodes()) {
    if (!regions.recomputes(static_cast<uint32_t>(node.index()))) continue;
    work += 2.0 * static_cast<double>(macs[node.index()].value()) +
            static_cast<double>(node.result(0).numel().value());
  }
  return work;
}

}  // namespace

std::vector<Choice> checkpoint_choices(const tmeter::Graph& graph, const Tape& tape,
                                       const std::vector<Count>& macs, Count saved, size_t most) {
  constexpr int64_t kLeast = 20;  // a twentieth of the kept bytes
  struct Rated {
    Choice choice;
    double bytes_for_work;
  };
  std::vector<Rated> rated;
  size_t types = 0;
  for (const auto& [type, calls] : calls_by_type(graph)) {
    if (calls.size() < 2) continue;
    if (++types > kMaxTypes) break;
    Choice choice{type, calls.size(), Regions(graph, tape, calls), 0, 0};
    choice.saved = sum_of(saved_bytes(tape, choice.regions));
    if (choice.saved + saved / kLeast > saved) continue;
    for (uint32_t node = 0; node < tape.nodes(); ++node)
      if (choice.regions.recomputes(node)) choice.recomputed_macs += macs[node];
    const auto gained = static_cast<double>((saved - choice.saved).value());
    const auto work = work_of(graph, choice.regions, macs);
    rated.push_back({std::move(choice), gained / std::max(work, 1.0)});
  }
  std::ranges::stable_sort(
      rated, [](const Rated& a, const Rated& b) { return a.bytes_for_work > b.bytes_for_work; });
  std::vector<Choice> out;
  for (size_t i = 0; i < std::min(most, rated.size()); ++i)
    out.push_back(std::move(rated[i].choice));
  return out;
}

}  // namespace training
