// activations: the number of elements in the results of convolutions and matrix products, which
// predicts the run time of convolutional networks better than FLOPs do (Radosavovic et al., CVPR
// 2020, §3.2). Definition and operators: fvcore.nn.ActivationCountAnalysis 0.1.5
// (fvcore/nn/activation_count.py).
#include <algorithm>
#include <array>
#include <tmeter/cpp/op_class.hpp>
#include <tmeter/cpp/plugin.hpp>

namespace {

using tmeter::Cell;
using tmeter::Node;

/// Convolutions, under every name that traces as aten::_convolution, and matrix products.
constexpr std::array<std::string_view, 13> kCounted{
    "conv1d",      "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "convolution", "addmm",  "bmm",    "einsum",           "matmul",           "_convolution",
    "linear"};

/// A convolution with padding="same" is traced as aten::_convolution_mode, which fvcore
/// ignores.
bool is_padded_by_name(const Node& node) { return node.arg("padding").kind() == TMETER_VALUE_TEXT; }

/// A recurrent cell is traced as two linear layers: gates × hidden from the input, and from the
/// state.
Cell cell_activations(const Node& node) {
  const auto from_input = node.input("w_ih").shape(), from_state = node.input("w_hh").shape();
  const auto rows = node.input("input").numel() / from_input.back();
  return rows * (tmeter::Count(from_input.front()) + from_state.front());
}

Cell count(const Node& node) {
  if (tmeter::op_class(node.op()) == tmeter::OpClass::kOther) return Cell::unsupported();
  const auto name = tmeter::base_name(node.op());
  if (name.ends_with("_cell") && node.arg("w_ih").is_tensor()) return cell_activations(node);
  const bool counted = std::find(kCounted.begin(), kCounted.end(), name) != kCounted.end();
  if (!counted || is_padded_by_name(node)) return Cell::zero_by_rule();
  return node.output().numel();
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.activations",
                       .version = "1.0.0",
                       .description = "Elements in the results of convolutions and matrix products",
                   }),
                   [](tmeter::Registrar& r) {
                     r.metric({.id = "activations",
                               .title = "activations",
                               .convention = "elements of the results of convolutions, linear "
                                             "layers and matrix products, as "
                                             "fvcore.nn.ActivationCountAnalysis 0.1.5"});
                     r.handlers_by_signature();
                     r.op("*").handle("activations", count);
                   })
