#include "step.hpp"

#include <algorithm>
#include <tmeter/cpp/op_class.hpp>
#include <unordered_map>

#include "backward_work.hpp"

namespace training {
namespace {

using tmeter::Count;
using tmeter::Node;
using tmeter::Value;

class Simulation {
 public:
  Simulation(const tmeter::Graph& graph, const Gradients& gradients, const Tape& tape,
             const Regions& regions, const StepCosts& costs, const Settings& settings)
      : graph_(graph),
        gradients_(gradients),
        tape_(tape),
        regions_(regions),
        costs_(costs),
        settings_(settings),
        lives_(tape.storages.size()),
        of_tensor_(graph.tensors().size(), kNone),
        has_adapter_gradients_(graph.tensors().size()) {
    held_.weights = costs.weights;
    held_.states = costs.states;
    sort_by_last_use();
  }

  StepMemory run() {
    forward();
    start_backward();
    backward();
    held_.temporaries += costs_.optimizer_temporaries;
    out_.optimizer_begin = out_.totals.size();
    sample(Phase::kOptimizer, kNone);
    return std::move(out_);
  }

 private:
  struct Life {
    bool in_use = false;  // needed by results that are still to be read
    uint32_t kept = 0;    // the number of operators that keep it
    bool alive() const { return in_use || kept > 0; }
  };
  struct Gradient {
    Count bytes = 0;
    uint32_t users = 0;
    bool of_parameter = false;
  };

  // --- storages of the forward ---

  Count rounded(Count bytes) const {
    constexpr Count kBlock = 512;  // CUDACachingAllocator: kMinBlockSize
    if (settings_.device != Device::kCuda) return bytes;
    return (bytes + (kBlock - 1)) / kBlock * kBlock;
  }
  Count size_of(uint32_t storage) const { return rounded(tape_.storages[storage].bytes); }

  template <class F>
  void change(uint32_t storage, const F& f) {
    if (tape_.storages[storage].persistent) return;
    auto& life = lives_[storage];
    const bool before = life.alive();
    f(life);
    if (life.alive() == before) return;
    if (before)
      held_.activations = held_.activations - size_of(storage);
    else
      held_.activations += size_of(storage);
  }
  void set_in_use(uint32_t storage, bool in_use) {
    change(storage, [&](Life& l) { l.in_use = in_use; });
  }
  void keep(uint32_t storage) {
    change(storage, [](Life& l) { ++l.kept; });
  }
  void release(uint32_t storage) {
    change(storage, [](Life& l) { l.kept -= l.kept > 0 ? 1 : 0; });
  }

  void sort_by_last_use() {
    const auto storages = static_cast<uint32_t>(tape_.storages.size());
    made_.resize(tape_.nodes() + 1);
    expires_.resize(tape_.nodes() + 1);
    for (uint32_t s = 0; s < storages; ++s) {
      const auto maker = tape_.storages[s].maker;
      if (maker == kNone) continue;
      const auto last = tape_.last_use[s] == kNone ? maker : tape_.last_use[s];
      ++made_[maker + 1];
      ++expires_[last + 1];
    }
    const auto fill = [&](std::vector<uint32_t>& starts, std::vector<uint32_t>& order,
                          const auto& key) {
      for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
      order.resize(starts.back());
      auto next = starts;
      for (uint32_t s = 0; s < storages; ++s)
        if (tape_.storages[s].maker != kNone) order[next[key(s)]++] = s;
    };
    fill(made_, made_order_, [&](uint32_t s) { return tape_.storages[s].maker; });
    fill(expires_, expires_order_, [&](uint32_t s) {
      return tape_.last_use[s] == kNone ? tape_.storages[s].maker : tape_.last_use[s];
    });
  }
  static std::span<const uint32_t> part(const std::vector<uint32_t>& starts,
                                        const std::vector<uint32_t>& order, uint32_t node) {
    return {order.data() + starts[node], starts[node + 1] - starts[node]};
  }

  // --- events ---

  void sample(Phase phase, uint32_t node) {
    const auto total = held_.total();
    out_.totals.push_back(total);
    if (total <= out_.peak.total()) return;
    out_.peak = held_;
    out_.phase = phase;
    out_.node = node;
  }

  void forward() {
    std::vector<bool> is_output(tape_.storages.size());
    for (const auto s : tape_.outputs) is_output[s] = true;
    for (uint32_t s = 0; s < tape_.storages.size(); ++s)
      if (tape_.storages[s].maker == kNone) set_in_use(s, true);  // the caller holds the inputs
    for (uint32_t node = 0; node < tape_.nodes(); ++node) {
      const auto* region = regions_.of(node);
      if (region && node == region->begin)
        std::ranges::for_each(region->inputs, [&](auto s) { keep(s); });
      for (const auto s : part(made_, made_order_, node)) set_in_use(s, true);
      if (!region)
        for (const auto s : tape_.saved_by(node)) keep(s);
      sample(Phase::kForward, node);
      for (const auto s : part(expires_, expires_order_, node))
        if (!is_output[s]) set_in_use(s, false);
    }
  }

  /// The loss keeps the results until it has made their gradients, as cross entropy keeps the
  /// logarithms of probabilities.
  void start_backward() {
    out_.backward_begin = out_.totals.size();
    for (const auto& output : graph_.outputs()) start_at(output);
    sample(Phase::kBackward, kNone);
    for (const auto s : tape_.outputs)
      if (tape_.storages[s].maker != kNone) set_in_use(s, false);
    for (const auto& node : graph_.nodes())
      if (gradients_.through(node) && !gradients_.reached(node)) release_tape(node);
  }
  void start_at(const Value& output) {
    for (size_t i = 0; i < output.size(); ++i) start_at(output[i]);
    if (output.is_tensor() && gradients_.of(output) && !output.tensor() && !gradient_at(output))
      pass(output, fresh(bytes_of(output, settings_)), kNone);
  }
  void release_tape(const Node& node) {
    const auto index = static_cast<uint32_t>(node.index());
    if (regions_.of(index)) return;
    for (const auto s : tape_.saved_by(index)) release(s);
  }

  // --- gradients ---

  uint32_t fresh(Count bytes) {
    gradients_list_.push_back({rounded(bytes), 0, false});
    held_.temporaries += rounded(bytes);
    return static_cast<uint32_t>(gradients_list_.size() - 1);
  }
  void drop(uint32_t gradient) {
    auto& g = gradients_list_[gradient];
    if (--g.users > 0) return;
    auto& part = g.of_parameter ? held_.gradients : held_.temporaries;
    part = part - g.bytes;
  }
  uint32_t* gradient_at(const Value& value) {
    if (const auto tensor = value.tensor()) {
      auto& at = of_tensor_[tensor.canonical().index()];
      return at == kNone ? nullptr : &at;
    }
    const auto found = of_value_.find(value.handle());
    return found == of_value_.end() ? nullptr : &found->second;
  }
  /// The gradient of a value, added to an earlier one.
  void pass(const Value& value, uint32_t gradient, uint32_t node) {
    ++gradients_list_[gradient].users;
    if (auto* before = gradient_at(value)) {
      const auto sum = fresh(gradient_bytes(value));
      sample(Phase::kBackward, node);
      drop(*before);
      drop(gradient);
      ++gradients_list_[sum].users;
      *before = gradient = sum;
    } else if (const auto tensor = value.tensor()) {
      of_tensor_[tensor.canonical().index()] = gradient;
    } else {
      of_value_[value.handle()] = gradient;
    }
    if (value.tensor()) give_to_parameter(gradients_list_[gradient]);
  }
  void give_to_parameter(Gradient& gradient) {
    if (gradient.of_parameter) return;
    gradient.of_parameter = true;
    held_.temporaries = held_.temporaries - gradient.bytes;
    held_.gradients += gradient.bytes;
  }

  /// Removes and returns the gradients of the results; a list has several.
  void take(const Value& value, std::vector<uint32_t>& out) {
    for (size_t i = 0; i < value.size(); ++i) take(value[i], out);
    const auto found = of_value_.find(value.handle());
    if (found == of_value_.end() || value.tensor()) return;
    out.push_back(found->second);
    of_value_.erase(found);
  }

  void backward() {
    const auto nodes = graph_.nodes();
    for (size_t i = nodes.size(); i-- > 0;) {
      const auto node = nodes[i];
      const auto index = static_cast<uint32_t>(i);
      const auto* region = regions_.of(index);
      if (gradients_.through(node) && gradients_.reached(node)) {
        if (region) recompute(*region);
        run_backward(node);
      }
      if (region && index == region->begin)
        for (const auto s : region->inputs) release(s);
    }
  }

  void run_backward(const Node& node) {
    const auto index = static_cast<uint32_t>(node.index());
    std::vector<uint32_t> arriving;
    for (size_t i = 0; i < node.result_count(); ++i) take(node.result(i), arriving);
    if (tmeter::is_in_place(node.op()) && node.arg_count() > 0) take(node.arg(size_t{0}), arriving);
    std::vector<std::pair<Value, uint32_t>> leaving;
    if (!arriving.empty())
      gradients_.for_each_gradient(node, [&](const Value& value, std::string_view argument) {
        const bool shared = shares_gradient(node, argument, value);
        leaving.emplace_back(value, shared ? arriving.front() : fresh(gradient_bytes(value)));
      });
    auto on_the_way = rounded(backward_temporaries(node, gradients_, settings_));
    if (gradients_.adapters().of(node)) {
      on_the_way += rounded(bytes_of(node.result(0), settings_));  // bytes of the scaled product
      add_adapter_gradients(node);
    }
    held_.temporaries += on_the_way;
    sample(Phase::kBackward, index);
    held_.temporaries = held_.temporaries - on_the_way;
    for (auto& [value, gradient] : leaving) ++gradients_list_[gradient].users;
    for (const auto gradient : arriving) drop(gradient);
    for (const auto& [value, gradient] : leaving) {
      pass(value, gradient, index);
      drop(gradient);
    }
    for (const auto s : tape_.saved_by(index)) release(s);
  }
  /// Gradients of the matrices beside the node's weight, once.
  void add_adapter_gradients(const Node& node) {
    for (size_t i = 0; i < node.arg_count(); ++i) {
      const auto tensor = node.arg(i).tensor();
      if (!tensor) continue;
      const auto index = tensor.canonical().index();
      if (has_adapter_gradients_[index]) continue;
      has_adapter_gradients_[index] = true;
      held_.gradients += costs_.adapters[index];
    }
  }
  Count gradient_bytes(const Value& value) const {
    const auto tensor = value.tensor();
    return tensor ? costs_.gradients[tensor.canonical().index()] : bytes_of(value, settings_);
  }

  /// The forward of the region once more, up to the last tensor that is needed.
  void recompute(const Region& region) {
    if (recomputed_.size() < tape_.nodes()) recomputed_.resize(tape_.nodes());
    if (recomputed_[region.begin]) return;
    recomputed_[region.begin] = true;
    std::vector<uint32_t> in_use;
    for (uint32_t node = region.begin; node < region.end; ++node) {
      if (regions_.of(node) != &region) continue;
      const auto recorded = graph_.nodes()[node];
      if (gradients_.through(recorded) && gradients_.reached(recorded))
        for (const auto s : tape_.saved_by(node)) keep(s);
      if (node >= region.recomputed_end) continue;
      for (const auto s : part(made_, made_order_, node)) {
        set_in_use(s, true);
        in_use.push_back(s);
      }
      sample(Phase::kBackward, node);
      for (const auto s : part(expires_, expires_order_, node)) set_in_use(s, false);
    }
    for (const auto s : in_use) set_in_use(s, false);
  }

  const tmeter::Graph& graph_;
  const Gradients& gradients_;
  const Tape& tape_;
  const Regions& regions_;
  const StepCosts& costs_;
  const Settings settings_;
  std::vector<Life> lives_;
  std::vector<uint32_t> made_, made_order_, expires_, expires_order_;  // by node
  std::vector<Gradient> gradients_list_;
  std::vector<uint32_t> of_tensor_;  // gradients of parameters
  std::unordered_map<const tmeter_value*, uint32_t> of_value_;
  std::vector<bool> recomputed_;
  std::vector<bool> has_adapter_gradients_;  // by tensor
  MemoryContent held_;
  StepMemory out_;
};

}  // namespace

StepMemory simulate_step(const tmeter::Graph& graph, const Gradients& gradients, const Tape& tape,
                         const Regions& regions, const StepCosts& costs, const Settings& settings) {
  return Simulation(graph, gradients, tape, regions, costs, settings).run();
}

}  // namespace training
