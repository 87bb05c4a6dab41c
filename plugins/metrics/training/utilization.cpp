#include "utilization.hpp"

#include <string>

namespace training {
namespace {

/// The type of the products: what `training.precision` says, else that of the largest parameter.
std::string_view type_of_products(const tmeter::Graph& graph, std::string_view precision) {
  if (precision == "fp32") return "float32";
  if (precision != "recorded") return "bfloat16";
  tmeter::Count largest = 0;
  std::string_view type = "float32";
  for (const auto& t : graph.tensors()) {
    if (!t.is_parameter() || t.numel() <= largest) continue;
    largest = t.numel();
    type = t.dtype().name();
  }
  return type;
}

}  // namespace

void find_utilization(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto seconds = call.option_float("step-time");
  if (seconds <= 0) return;
  const auto total = [&](std::string_view id) { return call.read(id, TMETER_AXIS_MODEL, 0); };
  const auto step = total("training_flops"), again = total("recomputed_flops");
  if (!step.known()) return;
  const auto key =
      "peak.mac." + std::string(type_of_products(graph, call.option_text("precision")));
  double peak = 0;
  if (!call.hardware_number(key, peak) || peak <= 0)
    return call.warn("training: hardware profile '" + std::string(call.hardware_name()) +
                     "' has no " + key +
                     ", so mfu and hfu are unknown; choose one with --hardware");
  const double whole = step.real() / seconds / (2 * peak);
  const double repeated = again.known() ? again.real() / seconds / (2 * peak) : 0;
  if (whole > 1)
    call.warn("training: a step of training.step-time would reach more than the peak of '" +
              std::string(call.hardware_name()) + "'; the time, the profile or the type is wrong");
  const auto emit = [&](std::string_view id, double share) {
    const tmeter::Cell cell(share);
    call.emit(id, TMETER_AXIS_MODEL, 0, step.partial() ? cell.as_partial() : cell);
  };
  emit("mfu", whole - repeated);
  emit("hfu", whole);
}

}  // namespace training
