#include <algorithm>
#include <functional>
#include <string>
#include <tmeter/cpp/units.hpp>

#include "analyses.hpp"
#include "checkpointing.hpp"
#include "gradients.hpp"
#include "optimizers.hpp"
#include "plugins/common/wording.hpp"
#include "settings.hpp"
#include "sharding.hpp"
#include "step.hpp"

namespace training {
namespace {

using plugins::bytes_text;
using tmeter::Call;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Finding;
using tmeter::Graph;

/// The matrices that are trained for a parameter: it, or the adapters beside it.
std::vector<TrainedTensor> trained_for(const tmeter::Tensor& t, const Gradients& gradients) {
  if (t.is_tied()) return {};
  if (gradients.trainable(t)) return {trained_tensor(t)};
  return gradients.adapters().beside(t);
}

Count weight_bytes(const tmeter::Tensor& t, const Settings& settings) {
  return t.is_encoded() ? t.bytes() : t.numel() * element_bytes(t.dtype(), settings);
}

/// Sums over the parameters and buffers, each tensor once.
StepCosts step_costs(const Graph& graph, const Gradients& gradients, const Settings& settings,
                     const Call& call) {
  const auto optimizer = call.option_text("optimizer"), precision = call.option_text("precision");
  StepCosts out;
  out.gradients.resize(graph.tensors().size());
  for (auto* list : {&out.adapters, &out.weights_of, &out.states_of})
    list->resize(graph.tensors().size());
  Count left_over = 0, shared = 0;
  const bool together = settings.device == Device::kCuda && works_on_all(optimizer);
  for (const auto& t : graph.tensors()) {
    if ((!t.is_parameter() && !t.is_buffer()) || t.is_tied()) continue;
    auto& weights = out.weights_of[t.index()];
    weights = weight_bytes(t, settings);
    const bool own = gradients.trainable(t);
    for (const auto& trained : trained_for(t, gradients)) {
      const auto cost = parameter_cost(trained, optimizer, precision);
      if (!own) weights += trained.numel * element_bytes(trained.dtype, settings);
      out.trained_weights += trained.numel * element_bytes(trained.dtype, settings);
      out.states_of[t.index()] += cost.states;
      out.states += cost.states;
      shared = std::max(shared, shared_state_bytes(trained, optimizer));
      (own ? out.gradients : out.adapters)[t.index()] += cost.gradient;
      out.optimizer_temporaries =
          together ? out.optimizer_temporaries + cost.left_over
                   : std::max(out.optimizer_temporaries, left_over + cost.temporaries);
      left_over = cost.left_over;
    }
    out.weights += weights;
    if (t.is_buffer()) out.buffers += weights;
  }
  out.states += shared;
  return out;
}

Replica replica_of(const StepCosts& costs) {
  Replica out;
  out.weights = costs.weights_of;
  out.states = costs.states_of;
  out.gradients = costs.gradients;
  out.buffers = costs.buffers;
  out.trained_weights = costs.trained_weights;
  for (size_t i = 0; i < out.gradients.size(); ++i) out.gradients[i] += costs.adapters[i];
  return out;
}

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
  }
  return "";
}

std::string name_of(const tmeter::Node& node) {
  const auto path = node.call() ? node.call().module().path() : std::string_view();
  const auto op = std::string(node.op());
  return path.empty() ? op : op + " in " + std::string(path);
}

std::string place_of(const Graph& graph, const StepMemory& step) {
  const auto phase = "in the " + std::string(name_of(step.phase));
  return step.node == kNone ? phase : phase + " of " + name_of(graph.nodes()[step.node]);
}

/// A storage, and the first operator that keeps it.
struct SavedStorage {
  uint32_t storage, node;
};

std::vector<SavedStorage> saved_tensors(const Tape& tape, const Regions& regions) {
  std::vector<SavedStorage> out;
  std::vector<bool> seen(tape.storages.size());
  const auto add = [&](uint32_t storage, uint32_t node) {
    if (seen[storage]) return;
    seen[storage] = true;
    out.push_back({storage, node});
  };
  for (uint32_t node = 0; node < tape.nodes(); ++node) {
    const auto* region = regions.of(node);
    if (region && node != region->begin) continue;
    if (region)
      for (const auto s : region->inputs) add(s, node);
    else
      for (const auto s : tape.saved_by(node)) add(s, node);
  }
  return out;
}

/// The largest kept tensors, each with its role and the operator that keeps it.
void report_saved_tensors(const Graph& graph, const Tape& tape, const Regions& regions,
                          Call& call) {
  constexpr size_t kMaxListedTensors = 10;
  auto kept = saved_tensors(tape, regions);
  if (kept.empty()) return;
  const auto shown = std::min(kMaxListedTensors, kept.size());
  std::partial_sort(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(shown), kept.end(),
                    [&](const SavedStorage& a, const SavedStorage& b) {
                      const auto x = tape.storages[a.storage].bytes,
                                 y = tape.storages[b.storage].bytes;
                      return x != y ? x > y : a.storage < b.storage;
                    });
  Finding f;
  f.rule = "training-kept";
  f.text = std::to_string(kept.size()) + (kept.size() == 1 ? " tensor is" : " tensors are") +
           " kept for the backward";
  for (size_t i = 0; i < shown; ++i) {
    const auto& storage = tape.storages[kept[i].storage];
    const auto keeper = graph.nodes()[kept[i].node];
    const bool own = storage.maker == kept[i].node;
    f.evidence += (i == 0 ? "largest first: " : "; ") + bytes_text(storage.bytes) + " " +
                  (own                      ? "made and kept by " + name_of(keeper)
                   : storage.maker == kNone ? "of the input, kept by " + name_of(keeper)
                                            : "of " + name_of(graph.nodes()[storage.maker]) +
                                                  ", kept by " + name_of(keeper));
    f.about(keeper);
  }
  call.add(f);
}

std::string parts_of(const MemoryContent& held) {
  return "weights " + bytes_text(held.weights) + ", optimizer " + bytes_text(held.states) +
         ", gradients " + bytes_text(held.gradients) + ", activations " +
         bytes_text(held.activations) + ", temporaries " + bytes_text(held.temporaries);
}

/// A limited number of points; each has the highest memory of the events that it represents.
tmeter::Series curve_of(const StepMemory& step) {
  constexpr size_t kPoints = 1000;
  tmeter::Series out;
  out.id = "step-memory";
  out.title = "memory of a training step";
  out.x_title = "share of the step's operators";
  out.x_unit = "%";
  out.y_title = "memory";
  out.y_unit = "B";
  const size_t n = step.totals.size(), stride = std::max<size_t>(1, (n + kPoints - 1) / kPoints);
  for (size_t begin = 0; begin < n; begin += stride) {
    const auto first = step.totals.begin() + static_cast<ptrdiff_t>(begin);
    const auto last = step.totals.begin() + static_cast<ptrdiff_t>(std::min(n, begin + stride));
    out.x.push_back(100.0 * static_cast<double>(begin) / static_cast<double>(n));
    out.y.push_back(static_cast<double>(std::max_element(first, last)->value()));
  }
  return out;
}

std::string percent(double share) {
  const auto text = std::to_string(static_cast<int64_t>(share * 100 + (share < 0 ? -0.5 : 0.5)));
  return (share >= 0 ? "+" + text : "\u2212" + text.substr(text.starts_with('-') ? 1 : 0)) + " %";
}

/// One finding for each of the best choices.
void report_choices(const std::vector<Choice>& choices, Count saved, Count peak,
                    const std::function<StepMemory(const Regions&)>& simulate, Call& call) {
  const auto total = [&](std::string_view id) {
    const auto cell = call.read(id, TMETER_AXIS_MODEL, 0);
    return cell.is_int() ? static_cast<double>(cell.count().value()) : 0.0;
  };
  const auto work = total("macs") + total("backward_macs");
  for (const auto& choice : choices) {
    const auto after = simulate(choice.regions).peak.total();
    const auto as_double = [](Count c) { return static_cast<double>(c.value()); };
    Finding f;
    f.severity = TMETER_SEVERITY_ADVICE;
    f.rule = "training-checkpoint";
    f.text = "checkpoint these " + std::to_string(choice.calls) + " " + std::string(choice.type) +
             " modules: " + percent(as_double(choice.saved) / as_double(saved) - 1) +
             " of the memory kept for the backward, " +
             percent(work > 0 ? as_double(choice.recomputed_macs) / work : 0) + " FLOPs";
    f.action =
        "torch.utils.checkpoint.checkpoint(module, x, use_reentrant=False) around each; "
        "--set training.checkpoint=" +
        std::string(choice.type) + " shows each value";
    f.changes = {{"saved_bytes", as_double(saved), as_double(choice.saved)},
                 {"step_peak_bytes", as_double(peak), as_double(after)}};
    call.add(f);
  }
}

/// A row for each way to share the work among `training.devices`.
void report_shards(const Graph& graph, const Replica& replica, const Settings& settings,
                   Call& call) {
  const auto devices = call.option_int("devices");
  if (devices <= 0) return;
  for (const auto& shard : shards(graph, replica, devices, settings)) {
    Finding f;
    f.rule = "training-sharding";
    f.text = std::string(shard.name) + " on " + std::to_string(devices) +
             " devices: each holds at most " + bytes_text(shard.holds) +
             (shard.sends ? " and sends " + bytes_text(*shard.sends) + " a step" : "");
    f.evidence = shard.formula + " (W weights, G gradients, O optimizer, A kept for the backward)";
    call.add(f);
  }
}

void report_peak(const Graph& graph, const StepMemory& step, bool whole, Call& call) {
  const auto total = step.peak.total();
  Finding f;
  f.rule = "training-step";
  f.text = "a training step peaks at " + std::string(whole ? "" : "at least ") + bytes_text(total) +
           " " + place_of(graph, step) + ", with " + std::string(call.option_text("optimizer"));
  f.evidence = parts_of(step.peak);
  if (step.node != kNone) f.about(graph.nodes()[step.node]);
  call.add(f);
}

/// A file with only weights: no activations are known.
MemoryContent without_graph(const StepCosts& costs) {
  MemoryContent held;
  held.weights = costs.weights;
  held.states = costs.states;
  for (const auto* list : {&costs.gradients, &costs.adapters})
    for (const auto bytes : *list) held.gradients += bytes;
  return held;
}

void report_weights_alone(const MemoryContent& held, Call& call) {
  Finding f;
  f.rule = "training-step";
  f.text = "a training step holds at least " + bytes_text(held.total()) + ", with " +
           std::string(call.option_text("optimizer"));
  f.evidence = "weights " + bytes_text(held.weights) + ", optimizer " + bytes_text(held.states) +
               ", gradients " + bytes_text(held.gradients) +
               "; the file has no graph, so activations are unknown";
  call.add(f);
}

/// The inputs of the computation of a step.
struct Step {
  Step(const Graph& of, Call& call)
      : graph(of),
        settings(settings_of(call)),
        gradients(of, call),
        costs(step_costs(of, gradients, settings, call)),
        tape(record_tape(of, gradients, settings)),
        calls(checkpointed_calls(of, call.option_text("checkpoint"))),
        regions(of, tape, calls) {}

  std::vector<std::optional<Count>> saved() const { return saved_bytes(tape, regions); }
  StepMemory simulate(const Regions& r) const {
    return simulate_step(graph, gradients, tape, r, costs, settings);
  }

  const Graph& graph;
  Settings settings;
  Gradients gradients;
  StepCosts costs;
  Tape tape;
  std::vector<tmeter::ModuleCall> calls;
  Regions regions;
};

bool is_whole(const std::vector<std::optional<Count>>& saved) {
  return std::ranges::all_of(saved, [](const auto& bytes) { return bytes.has_value(); });
}

}  // namespace

void find_states(const Graph& graph, Call& call) {
  const Gradients gradients(graph, call);
  const auto optimizer = call.option_text("optimizer"), precision = call.option_text("precision");
  bool has_shared = false;  // at the first parameter that uses it
  for (const auto& t : graph.tensors()) {
    if (!t.is_parameter()) continue;
    ParameterCost sum;
    Count trained_elements = 0;
    for (const auto& trained : trained_for(t, gradients)) {
      const auto cost = parameter_cost(trained, optimizer, precision);
      const auto shared = shared_state_bytes(trained, optimizer);
      sum.gradient += cost.gradient;
      sum.states += cost.states + (has_shared ? Count(0) : shared);
      sum.flops += cost.flops;
      trained_elements += trained.numel;
      has_shared = has_shared || shared > Count(0);
    }
    const auto emit = [&](std::string_view id, Count c) {
      call.emit(id, TMETER_AXIS_TENSOR, t.index(), c == Count(0) ? Cell::zero_by_rule() : Cell(c));
    };
    emit("trained_params", trained_elements);
    emit("gradient_bytes", sum.gradient);
    emit("optimizer_bytes", sum.states);
    emit("optimizer_flops", sum.flops);
  }
}

void find_step(const Graph& graph, Call& call) {
  const Step step(graph, call);
  if (graph.nodes().size() == 0) {
    const auto total = without_graph(step.costs).total();
    return call.emit("step_peak_bytes", TMETER_AXIS_MODEL, 0, Cell(total).as_partial());
  }
  const auto saved = step.saved();
  for (size_t i = 0; i < saved.size(); ++i) {
    const bool nothing = saved[i] && *saved[i] == Count(0);
    call.emit("saved_bytes", TMETER_AXIS_NODE, i,
              nothing    ? Cell::zero_by_rule()
              : saved[i] ? Cell(*saved[i])
                         : Cell::unsupported());
  }
  const Cell peak(step.simulate(step.regions).peak.total());
  call.emit("step_peak_bytes", TMETER_AXIS_MODEL, 0, is_whole(saved) ? peak : peak.as_partial());
}

void report_step(const Graph& graph, Call& call) {
  const Step step(graph, call);
  auto replica = replica_of(step.costs);
  if (graph.nodes().size() == 0) {
    report_weights_alone(without_graph(step.costs), call);
    return report_shards(graph, replica, step.settings, call);
  }
  const auto saved = step.saved();
  const auto memory = step.simulate(step.regions);
  report_peak(graph, memory, is_whole(saved), call);
  call.add(curve_of(memory));
  std::vector<Count> macs;
  for (const auto& node : graph.nodes()) {
    const auto cell = call.read("macs", node);
    macs.push_back(cell.is_int() ? cell.count() : Count(0));
  }
  Count kept = 0;
  for (const auto& bytes : saved) {
    replica.saved.push_back(bytes.value_or(0));
    kept += replica.saved.back();
  }
  replica.macs = macs;
  replica.tape = &step.tape;
  report_shards(graph, replica, step.settings, call);
  report_saved_tensors(graph, step.tape, step.regions, call);
  if (!step.calls.empty() || kept == Count(0)) return;
  constexpr size_t kChoices = 5;
  report_choices(
      checkpoint_choices(graph, step.tape, macs, kept, kChoices), kept, memory.peak.total(),
      [&](const Regions& r) { return step.simulate(r); }, call);
}

}  // namespace training
