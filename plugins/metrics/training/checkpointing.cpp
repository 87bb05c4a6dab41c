#include "checkpointing.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "gradients.hpp"

namespace training {
namespace {

using tmeter::Count;
using tmeter::ModuleCall;

bool fits(std::string_view pattern, const tmeter::Module& module) {
  return matches(pattern, module.path()) || matches(pattern, module.type()) ||
         matches(pattern, module.qualified_type());
}

/// Early stop: nothing after the last kept tensor runs again.
uint32_t last_needed(const Tape& tape, uint32_t begin, uint32_t end) {
  for (uint32_t node = end; node-- > begin;)
    for (const auto storage : tape.saved_by(node)) {
      const auto maker = tape.storages[storage].maker;
      if (maker == kNone || maker < begin) continue;
      return maker == node ? node + 1 : node;  // inputs are kept before the operator runs
    }
  return begin;
}

}  // namespace

Regions::Regions(const tmeter::Graph& graph, const Tape& tape, const std::vector<ModuleCall>& calls)
    : of_node_(graph.nodes().size(), kNone) {
  for (const auto& call : calls) {
    const auto nodes = call.nodes();
    if (nodes.empty()) continue;
    Region region;
    region.begin = static_cast<uint32_t>((*nodes.begin()).index());
    uint32_t last = region.begin;
    for (const auto& node : nodes) {
      last = static_cast<uint32_t>(node.index());
      of_node_[last] = static_cast<uint32_t>(list_.size());
    }
    region.end = last + 1;
    region.recomputed_end = last_needed(tape, region.begin, region.end);
    std::vector<uint32_t> inputs;
    for (const auto& value : call.inputs()) {
      const auto found = tape.places.find(value.handle());
      if (found != tape.places.end() && !tape.storages[found->second.storage].persistent)
        inputs.push_back(found->second.storage);
    }
    std::ranges::sort(inputs);
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    region.inputs = std::move(inputs);
    list_.push_back(std::move(region));
  }
}

std::vector<ModuleCall> checkpointed_calls(const tmeter::Graph& graph, std::string_view patterns) {
  std::vector<ModuleCall> out;
  if (patterns.empty()) return out;
  std::vector<std::string_view> words;
  for_each_word(
      patterns, [&](std::string_view word) { words.push_back(word); }, ',');
  std::vector<bool> used(words.size()), chosen(graph.module_calls().size());
  for (const auto& call : graph.module_calls()) {
    bool any = false;
    for (size_t i = 0; i < words.size(); ++i)
      if (!words[i].empty() && fits(words[i], call.module())) used[i] = any = true;
    chosen[call.index()] = any;
  }
  for (size_t i = 0; i < words.size(); ++i)
    if (!used[i])
      throw tmeter::Error(
          TMETER_BAD_USAGE,
          "training.checkpoint: '" + std::string(words[i]) +
              "' matches the type or path of no module that is called; --columns=type "
              "shows the types");
  for (const auto& call : graph.module_calls()) {
    if (!chosen[call.index()]) continue;
    bool inside = false;
    for (auto up = call.parent(); up && !inside; up = up.parent()) inside = chosen[up.index()];
    if (!inside) out.push_back(call);
  }
  return out;
}

Regions checkpointed(const tmeter::Graph& graph, const Gradients& gradients,
                     const Settings& settings, const tmeter::Call& call) {
  const auto calls = checkpointed_calls(graph, call.option_text("checkpoint"));
  if (calls.empty()) return {};
  return {graph, record_tape(graph, gradients, settings), calls};
}

std::vector<std::optional<Count>> saved_bytes(const Tape& tape, const Regions& regions) {
  std::vector<bool> is_kept(tape.storages.size());
  std::vector<std::optional<Count>> by_node;
  by_node.reserve(tape.nodes());
  for (uint32_t node = 0; node < tape.nodes(); ++node) {
    Count sum = 0;
    const auto keep = [&](uint32_t storage) {
      if (is_kept[storage]) return;
      is_kept[storage] = true;
      sum += tape.storages[storage].bytes;
    };
    if (const auto* region = regions.of(node)) {
      if (node == region->begin) std::ranges::for_each(region->inputs, keep);
      by_node.push_back(sum);
      continue;
    }
    std::ranges::for_each(tape.saved_by(node), keep);
    by_node.push_back(tape.has_rule[node] ? std::optional(sum) : std::nullopt);
  }
  return by_node;
}

namespace {

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
  constexpr int64_t kMinSavingDivisor = 20;  // a twentieth of the kept bytes
  struct RatedChoice {
    Choice choice;
    double bytes_for_work;
  };
  std::vector<RatedChoice> rated;
  size_t types = 0;
  for (const auto& [type, calls] : calls_by_type(graph)) {
    if (calls.size() < 2) continue;
    if (++types > kMaxTypes) break;
    Choice choice{type, calls.size(), Regions(graph, tape, calls), 0, 0};
    choice.saved = sum_of(saved_bytes(tape, choice.regions));
    if (choice.saved + saved / kMinSavingDivisor > saved) continue;
    for (uint32_t node = 0; node < tape.nodes(); ++node)
      if (choice.regions.recomputes(node)) choice.recomputed_macs += macs[node];
    const auto gained = static_cast<double>((saved - choice.saved).value());
    const auto work = work_of(graph, choice.regions, macs);
    rated.push_back({std::move(choice), gained / std::max(work, 1.0)});
  }
  std::ranges::stable_sort(rated, [](const RatedChoice& a, const RatedChoice& b) {
    return a.bytes_for_work > b.bytes_for_work;
  });
  std::vector<Choice> out;
  for (size_t i = 0; i < std::min(most, rated.size()); ++i)
    out.push_back(std::move(rated[i].choice));
  return out;
}

}  // namespace training
