// Convolutions on NCHW tensors whose kernels compute in NHWC: on NVIDIA's tensor cores (Deep
// Learning Performance Guide, "Convolutional Layers", on tensor layouts) and in oneDNN, whose
// blocked formats are close to it. PyTorch computes in NHWC throughout if weights and input are in
// NHWC (tutorial "Channels Last Memory Format in PyTorch").
#include <algorithm>
#include <array>
#include <tmeter/cpp/op_class.hpp>

#include "plugins/common/strides.hpp"
#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace layout {
namespace {

using tmeter::Node;
using tmeter::OpClass;
using tmeter::Shape;

/// Smallest share of the time, or of the MACs, that is reported. Our choice.
constexpr double kMinTimeShare = 0.1;

constexpr std::array<std::string_view, 7> kSpatial{
    "conv2d",       "conv3d",      "conv_transpose2d", "conv_transpose3d",
    "_convolution", "convolution", "_convolution_mode"};

/// False for images of one pixel, for which both layouts are equal.
bool has_pixels(const Shape& s) {
  return s.rank() >= 4 && std::any_of(s.begin() + 2, s.end(), [](int64_t d) { return d > 1; });
}

bool is_stored_channels_last(const tmeter::Tensor& weight) {
  const auto shape = weight.shape(), strides = weight.strides();
  return strides.rank() == shape.rank() && shape.rank() >= 4 && shape[1] > 1 && strides[1] == 1 &&
         has_pixels(shape);
}

bool works_on_images(const Node& node) {
  const auto name = tmeter::base_name(node.op());
  const auto input = node.arg("input");
  return std::find(kSpatial.begin(), kSpatial.end(), name) != kSpatial.end() && input.is_tensor() &&
         node.result_count() == 1 && input.dtype().kind() == tmeter::DTypeClass::kFloat &&
         has_pixels(input.shape()) && has_pixels(node.result(0).shape());
}

/// Whether the model itself converts to NHWC, or stores its weights that way.
bool is_channels_last_already(const tmeter::Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (plugins::is_channels_last(node.arg("memory_format"))) return true;
    if (works_on_images(node) && node.arg("weight").tensor() &&
        is_stored_channels_last(node.arg("weight").tensor()))
      return true;
  }
  return false;
}

struct Sum {
  std::vector<Node> nodes;
  double macs = 0, all_macs = 0, reordered = 0, seconds = 0;
};

Sum sum_convolutions(const Model& model) {
  Sum sum;
  for (const auto& node : model.graph.nodes()) {
    const double macs = model.call.read("macs", node).real();
    sum.all_macs += macs;
    if (!works_on_images(node)) continue;
    sum.nodes.push_back(node);
    sum.macs += macs;
    sum.reordered += 2 * (plugins::bytes_of(node.arg("input")) + plugins::bytes_of(node.result(0)));
    const auto seconds = model.call.read("predicted_time", node);
    if (seconds.known()) sum.seconds += seconds.real();
  }
  return sum;
}

}  // namespace

void report_channels_last(Model& model) {
  const auto sum = sum_convolutions(model);
  const auto total = model.estimator.seconds();
  const double share = total && *total > 0 ? sum.seconds / *total
                       : sum.all_macs > 0  ? sum.macs / sum.all_macs
                                           : 0;
  if (sum.nodes.empty() || share < kMinTimeShare || is_channels_last_already(model.graph)) return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "channels-last";
  f.text = plugins::count_of(sum.nodes.size(), "convolution") +
           (sum.nodes.size() == 1 ? " reads and writes" : " read and write") +
           " NCHW tensors: " + plugins::percent(share) +
           (total && *total > 0 ? " of the predicted time" : " of the MACs");
  f.evidence =
      "kernels that compute in NHWC (tensor cores, oneDNN) reorder the inputs and results of each: "
      "up to " +
      advice::bytes_text(sum.reordered) + " of traffic";
  double bandwidth = 0;
  if (model.call.hardware_number("peak.dram", bandwidth) && bandwidth > 0)
    f.evidence += ", " + advice::seconds_text(sum.reordered / bandwidth) + " on " +
                  std::string(model.call.hardware_name());
  f.action =
      "model.to(memory_format=torch.channels_last), and the same for the input (channels_last_3d "
      "for volumes); operators between convolutions keep the format; measure the effect";
  for (const auto& node : sum.nodes) f.about(node);
  model.call.add(f);
}

}  // namespace layout
