// Features that are not a multiple of 16 bytes: they do not fill vectors and the tiles of matrix
// units, and rows start at unaligned addresses. NVIDIA, Matrix Multiplication Background User's
// Guide, table 1 (cuBLAS ≥ 11): tensor cores are most efficient with multiples of 16 (int8), 8 (16
// bits), 4 (TF32) and 2 (float64) elements, all 16 bytes; on an A100 with 128 bytes.
#include <algorithm>
#include <tmeter/cpp/op_class.hpp>

#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace layout {
namespace {

using tmeter::Node;
using tmeter::OpClass;

constexpr int64_t kAlignment = 16;  // bytes
/// Smallest share of the MACs that is reported. Our choice.
constexpr double kMinMacShare = 0.01;
/// Images have 1, 3 or 4 channels; libraries have kernels for them.
constexpr int64_t kImageChannels = 4;
constexpr size_t kSizesNamed = 4;

struct Layer {
  Node node;
  int64_t inputs = 0, outputs = 0;
  double macs = 0;
};

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// Inputs and outputs of a linear layer or convolution; 0 for other operators.
Layer layer_of(const Node& node, const tmeter::Call& call) {
  Layer out{node, 0, 0, call.read("macs", node).real()};
  const auto kind = tmeter::op_class(node.op());
  const auto weight = node.arg("weight").shape();
  const bool linear = node.op() == "aten::linear" && weight.rank() == 2;
  const bool convolution = kind == OpClass::kConvolution && weight.rank() > 2 &&
                           node.result_count() == 1 &&
                           node.arg("input").shape().rank() == weight.rank() &&
                           node.result(0).shape().rank() == weight.rank();
  if (linear) out.inputs = weight[1], out.outputs = weight[0];
  if (convolution)
    out.inputs = node.arg("input").shape()[1], out.outputs = node.result(0).shape()[1];
  return out;
}

/// "12 × float32 256 → 126 (head.fc (aten::linear))": layers of the same sizes together, those with
/// most MACs first.
std::string sizes_text(const std::vector<Layer>& layers) {
  struct Group {
    std::string sizes, place;
    size_t count = 0;
    double macs = 0;
  };
  std::vector<Group> groups;
  for (const auto& l : layers) {
    const auto sizes = std::string(l.node.arg("weight").dtype().name()) + " " +
                       std::to_string(l.inputs) + " → " + std::to_string(l.outputs);
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const Group& g) { return g.sizes == sizes; });
    if (at == groups.end()) at = groups.insert(at, {sizes, plugins::place(l.node)});
    ++at->count;
    at->macs += l.macs;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.macs > b.macs; });
  return plugins::listed(groups.size(), kSizesNamed, [&](size_t i) {
    const auto& g = groups[i];
    return std::to_string(g.count) + " × " + g.sizes + " (" + (g.count > 1 ? "such as " : "") +
           g.place + ")";
  });
}

bool is_uneven(int64_t n, int64_t step) { return n > kImageChannels && n % step != 0; }

}  // namespace

void report_features(Model& model) {
  std::vector<Layer> uneven;
  double macs = 0, all = 0, padded = 0;
  for (const auto& node : model.graph.nodes()) {
    const auto layer = layer_of(node, model.call);
    all += layer.macs;
    const int64_t width = node.arg("weight").dtype().bytes();
    if (layer.inputs <= 0 || layer.outputs <= 0 || width <= 0 || width >= kAlignment) continue;
    const int64_t step = kAlignment / width;
    if (!is_uneven(layer.inputs, step) && !is_uneven(layer.outputs, step)) continue;
    uneven.push_back(layer);
    macs += layer.macs;
    padded += layer.macs * (static_cast<double>(round_up(layer.inputs, step)) /
                                static_cast<double>(layer.inputs) *
                                static_cast<double>(round_up(layer.outputs, step)) /
                                static_cast<double>(layer.outputs) -
                            1);
  }
  if (uneven.empty() || all <= 0 || macs < kMinMacShare * all) return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "align-features";
  f.text = plugins::count_of(uneven.size(), "layer") + " with " + plugins::percent(macs / all) +
           " of the MACs " + (uneven.size() == 1 ? "has" : "have") +
           " features that are not a multiple of 16 bytes";
  f.evidence = sizes_text(uneven);
  f.evidence +=
      "; padding them adds " + tmeter::general(100 * padded / all, 2) + " % to the model's MACs";
  f.action =
      "build the layers with a multiple of 4 (float32), 8 (16 bits) or 16 (int8) features, "
      "preferably of 64, and keep the added ones at zero: matrix units and vectors process whole "
      "tiles";
  for (const auto& l : uneven) f.about(l.node);
  model.call.add(f);
}

}  // namespace layout
