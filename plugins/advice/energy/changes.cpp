// Energy that a change to the model, or to the way it is run, would save.
#include <algorithm>
#include <tmeter/cpp/op_class.hpp>

#include "plugins/advice/common/savings.hpp"
#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace energy_advice {
namespace {

using energy::Work;
using tmeter::DType;
using tmeter::Node;
using tmeter::OpClass;

constexpr int64_t kBatchFactor = 8;

/// The share of an operator's bytes that belong to tensors of this type.
double share_of_type(const Node& node, DType type) {
  double of_type = 0, all = 0;
  const auto add = [&](const tmeter::Value& v) {
    const double bytes = plugins::bytes_of(v);
    all += bytes;
    if (v.dtype() == type) of_type += bytes;
  };
  plugins::for_each_input(node, add);
  for (size_t i = 0; i < node.result_count(); ++i) plugins::for_each_tensor(node.result(i), add);
  return all > 0 ? of_type / all : 0;
}

/// True for operators that a conversion to `to` affects. For integers these are only products,
/// because other operators stay in floats.
bool converts(const Operator& o, DType from, DType to) {
  return o.work.type == from && (to.kind() == tmeter::DTypeClass::kFloat || o.work.macs > 0);
}

/// J saved if tensors of type `from` were of type `to`, and the operators concerned.
std::pair<double, std::vector<Node>> saved_in(Model& model, DType from, DType to) {
  const double smaller = 1 - static_cast<double>(to.bytes()) / static_cast<double>(from.bytes());
  std::pair<double, std::vector<Node>> out;
  for (const auto& o : model.operators()) {
    if (!converts(o, from, to)) continue;
    Work then = o.work;
    then.bytes *= 1 - smaller * share_of_type(o.node, from);
    then.type = to;
    const auto before = model.of(o.work), after = model.of(then);
    if (!before || !after || *after >= *before) continue;
    out.first += *before - *after;
    out.second.push_back(o.node);
  }
  return out;
}

struct Step {
  int32_t type;
  const char* action;
};
constexpr Step kHalves[]{
    {TMETER_DTYPE_BFLOAT16, "model.to(torch.bfloat16), or torch.autocast; measure the accuracy"},
    {TMETER_DTYPE_FLOAT16, "model.half(), or torch.autocast; measure the accuracy"}};
constexpr Step kIntegers[]{
    {TMETER_DTYPE_INT8,
     "quantize weights and activations of linear layers and convolutions: tmeter "
     "--plugins=quantization-advice shows which tolerate it"}};

/// The best of `steps`, from float32.
void report_best(Model& model, std::span<const Step> steps) {
  const DType from(TMETER_DTYPE_FLOAT32);
  const Step* best = nullptr;
  std::pair<double, std::vector<Node>> most;
  for (const auto& step : steps) {
    if (!model.has(OpClass::kMatmul, DType(step.type))) continue;
    auto saved = saved_in(model, from, DType(step.type));
    if (saved.first > most.first) most = std::move(saved), best = &step;
  }
  if (!best || most.first < kMinShare * model.joules()) return;
  tmeter::Finding f;
  f.rule = "energy-precision";
  f.text = std::string(DType(best->type).name()) + " instead of float32 would save " +
           model.share_text(most.first);
  f.evidence = plugins::count_of(most.second.size(), "operator") + " of float32";
  f.action = best->action;
  for (const auto& node : most.second) f.about(node);
  model.report(f, most.first);
}

/// Kinds of operators that compilers fuse into the preceding operator.
bool is_fusable(OpClass kind) {
  return kind == OpClass::kElementwise || kind == OpClass::kActivation ||
         kind == OpClass::kNormalization;
}

}  // namespace

void report_precision(Model& model) {
  report_best(model, kHalves);
  report_best(model, kIntegers);
}

void report_batch(Model& model) {
  const plugins::DependsOnInputs depends_on_inputs(model.graph);
  double bytes = 0;
  std::vector<Node> nodes;
  for (const auto& o : model.operators()) {
    if (!depends_on_inputs(o.node)) continue;
    const double weights = std::min(advice::fixed_bytes(o.node, depends_on_inputs),
                                    model.call.read("read_bytes", o.node).real());
    if (weights <= 0) continue;
    bytes += weights;
    nodes.push_back(o.node);
  }
  const double saved = model.moving(bytes) * (1 - 1.0 / kBatchFactor);
  if (saved < kMinShare * model.joules()) return;
  tmeter::Finding f;
  f.rule = "energy-batch";
  f.text = std::to_string(kBatchFactor) + " times the batch would save " + model.share_text(saved) +
           " for each batch of the present size";
  f.evidence = advice::bytes_text(bytes) + " of weights are read once for the batch instead of " +
               std::to_string(kBatchFactor) + " times";
  f.action = "collect requests and run them together";
  for (const auto& node : nodes) f.about(node);
  model.report(f, saved);
}

void report_fusion(Model& model) {
  const plugins::Uses uses(model.graph);
  double bytes = 0;
  std::vector<Node> nodes;
  for (const auto& o : model.operators()) {
    if (o.work.macs > 0 || !is_fusable(o.work.kind)) continue;
    double most = 0;  // bytes of the largest operand that only this operator uses
    plugins::for_each_input(o.node, [&](const tmeter::Value& v) {
      const auto use =
          v.producer() ? uses.sole_use(v, plugins::SkippedOps::kIdentity) : plugins::Use();
      if (use && use.node.index() == o.node.index()) most = std::max(most, plugins::bytes_of(v));
    });
    if (most <= 0) continue;
    bytes += 2 * most;
    nodes.push_back(o.node);
  }
  const double saved = model.moving(bytes);
  if (saved < kMinShare * model.joules()) return;
  tmeter::Finding f;
  f.rule = "energy-fusion";
  f.text = "fusing " + plugins::count_of(nodes.size(), "operator") +
           " into those before them would save at most " + model.share_text(saved);
  f.evidence =
      advice::bytes_text(bytes) + " of intermediate results would be neither written nor read";
  f.action = "torch.compile(model); --plugins=fusion-advice names the chains";
  for (const auto& node : nodes) f.about(node);
  model.report(f, saved);
}

}  // namespace energy_advice
