#include "tools.hpp"

#include <array>
#include <span>
#include <tmeter/cpp/op_class.hpp>

#include "ops/facts.hpp"
#include "ops/shapes.hpp"

namespace flops {
namespace {

// One function per formula of the tables. `macs`: the node's MACs.

using Formula = Count (*)(const Node&, Count macs);

/// Elements of the input or of the result, times a number.
template <int64_t factor>
Count in(const Node& n, Count) {
  return data(n).numel() * factor;
}
template <int64_t factor>
Count out(const Node& n, Count) {
  return output(n).numel() * factor;
}
/// Elements of the input times one of two numbers: with weight, or without.
template <int64_t with, int64_t without>
Count in_by_weight(const Node& n, Count) {
  return data(n).numel() * (has_tensor(n, {"weight"}) ? with : without);
}

/// A tool's additions per hidden unit and step of a recurrent layer, by the number of gates.
struct PerUnit {
  int64_t lstm, gru, rnn;
  int64_t of(int64_t gates) const { return gates == 4 ? lstm : gates == 3 ? gru : rnn; }
};
constexpr PerUnit kBiases{8, 6, 2};  // two additions per gate

Count recurrent(const Node& n, Count macs, const PerUnit& arithmetic) {
  const auto r = recurrence_of(n);
  if (!r) throw Unsupported(std::string(n.op()) + " is of an unknown recurrent kind");
  return macs + r->unit_steps * (arithmetic.of(r->gates) + (r->biases ? kBiases.of(r->gates) : 0));
}

Count in_and_out(const Node& n, Count) { return data(n).numel() + output(n).numel(); }

Count out_by_window_minus_1(const Node& n, Count) {
  const auto name = tmeter::base_name(n.op());
  const auto digit = name.find_first_of("123");
  return output(n).numel() * (pooling_window(n, name[digit] - '0') - 1);
}

/// window - 1 additions and a division count as torchmeter has them: 2 (window - 1) + 1.
Count out_by_twice_window_minus_1(const Node& n, Count macs) {
  return out_by_window_minus_1(n, macs) * 2 + output(n).numel();
}

Count macs_and_bias(const Node& n, Count macs) {
  const auto name = tmeter::base_name(n.op());
  const bool adds = name == "addmm" || name == "baddbmm" || name == "_addmm_activation";
  return macs + (adds ? output(n).numel() : bias_adds(n));
}

/// n multiplications and n - 1 additions for each result, and one more with a bias.
Count twice_without_first_addition(const Node& n, Count macs) {
  if (macs == Count(0)) return macs;
  return macs + macs_and_bias(n, macs) - output(n).numel();
}

/// The same without the addition of the bias.
Count twice_without_first_addition_or_bias(const Node& n, Count macs) {
  return macs == Count(0) ? macs : macs * 2 - output(n).numel();
}

/// window - 1 additions and a division for each result.
Count out_by_window(const Node& n, Count macs) {
  return out_by_window_minus_1(n, macs) + output(n).numel();
}

/// n exponentials, n - 1 additions and n divisions for each n that are normalised together.
Count softmax_3n_minus_1(const Node& n, Count) {
  const auto x = data(n);
  if (x.shape().empty()) return 2;
  const Count normalised = x.shape()[n.arg("dim").as_int(-1)];
  return normalised == Count(0) ? Count(0) : x.numel() / normalised * (normalised * 3 - 1);
}

/// nn.ReLU6 is exported as hardtanh from 0 to 6: one per element. Any other hardtanh: 0.
Count relu6(const Node& n, Count) {
  const bool is = n.arg("min_val").as_float(-1) == 0 && n.arg("max_val").as_float(1) == 6;
  return is ? data(n).numel() : Count(0);
}

Count batch_times_parameters(const Node& n, Count) {
  const auto shape = data(n).shape();
  return (shape.empty() ? 1 : shape.front()) * (n.arg("weight").numel() + n.arg("bias").numel());
}

// ptflops' nn.MultiheadAttention: scaling of the query, one per score for the softmax.
Count macs_scores_and_query(const Node& n, Count macs) {
  return macs + macs / *macs_per_score(n) + tensor_arg(n, {"query"}).numel();
}

Count ptflops_fused_attention(const Node& n, Count macs) {
  const auto f = *fused_attention(n);
  return macs + f.biases + f.scores + f.query;
}

Count thop_recurrent(const Node& n, Count macs) { return recurrent(n, macs, {8, 7, 1}); }
Count ptflops_recurrent(const Node& n, Count macs) { return recurrent(n, macs, {10, 7, 1}); }
Count torchinfo_recurrent(const Node& n, Count macs) { return recurrent(n, macs, {0, 0, 0}); }

struct ToolRow {
  std::string_view names;  // base names, separated by spaces
  Formula formula;
};

// --- operators that every tool treats alike ----------------------------------------------
#define BATCH_NORMS                                                                             \
  "batch_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training " \
  "_native_batch_norm_legit_functional _batch_norm_impl_index cudnn_batch_norm "                \
  "miopen_batch_norm _batch_norm_no_update"
#define LAYER_NORMS "layer_norm native_layer_norm"
#define GROUP_NORMS "group_norm native_group_norm"
#define MAX_POOLS                                                                     \
  "max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices " \
  "max_pool3d_with_indices mkldnn_max_pool2d mkldnn_max_pool3d"
#define AVG_POOLS "avg_pool1d avg_pool2d avg_pool3d"
#define ADAPTIVE_AVG_POOLS                                                            \
  "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d " \
  "_adaptive_avg_pool3d mkldnn_adaptive_avg_pool2d"
#define ADAPTIVE_MAX_POOLS "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d"
#define NEAREST "upsample_nearest1d upsample_nearest2d upsample_nearest3d"
#define SMOOTH "upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d"
#define BIASED                                                                                   \
  "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution "         \
  "_convolution mkldnn_convolution cudnn_convolution _conv_depthwise2d thnn_conv2d slow_conv3d " \
  "deform_conv2d"
#define LINEARS "linear addmm _addmm_activation bilinear mkldnn_linear"
#define RECURRENT                                                                         \
  "lstm gru rnn_tanh rnn_relu mkldnn_rnn_layer _cudnn_rnn miopen_rnn lstm_cell gru_cell " \
  "rnn_tanh_cell rnn_relu_cell"

// thop 0.1.1: thop/vision/basic_hooks.py, calc_func.py, rnn_hooks.py.
constexpr std::array kThop{
    ToolRow{BATCH_NORMS " instance_norm " LAYER_NORMS, in_by_weight<4, 2>},
    ToolRow{"softmax _softmax", softmax_3n_minus_1},
    ToolRow{"prelu", in<1>},
    ToolRow{AVG_POOLS " " NEAREST, out<1>},
    ToolRow{ADAPTIVE_AVG_POOLS, in_and_out},
    ToolRow{"upsample_linear1d", out<5>},
    ToolRow{"upsample_bilinear2d", out<11>},
    ToolRow{"upsample_trilinear3d", out<31>},
    ToolRow{"upsample_bicubic2d", out<259>},
    ToolRow{RECURRENT, thop_recurrent},
};

// ptflops 0.7.5, backend pytorch: ptflops/pytorch_ops.py.
constexpr std::array kPtflops{
    ToolRow{BIASED " " LINEARS " baddbmm", macs_and_bias},
    ToolRow{"scaled_dot_product_attention _scaled_dot_product_flash_attention "
            "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention "
            "_scaled_dot_product_cudnn_attention",
            macs_scores_and_query},
    ToolRow{"_native_multi_head_attention", ptflops_fused_attention},
    ToolRow{BATCH_NORMS " instance_norm " GROUP_NORMS, in_by_weight<2, 1>},
    ToolRow{LAYER_NORMS " relu relu6 prelu elu leaky_relu gelu silu softmax _softmax", in<1>},
    ToolRow{"hardtanh", relu6},
    ToolRow{MAX_POOLS " " AVG_POOLS " " ADAPTIVE_AVG_POOLS " " ADAPTIVE_MAX_POOLS, in<1>},
    ToolRow{NEAREST " " SMOOTH, out<1>},
    ToolRow{RECURRENT, ptflops_recurrent},
};

// torchinfo 1.8.0: torchinfo/layer_info.py, LayerInfo.calculate_macs.
constexpr std::array kTorchinfo{
    ToolRow{BIASED " " LINEARS, macs_and_bias},
    ToolRow{BATCH_NORMS " instance_norm rms_norm _fused_rms_norm prelu " LAYER_NORMS
                        " " GROUP_NORMS,
            batch_times_parameters},
    ToolRow{RECURRENT, torchinfo_recurrent},
};

// torchmeter 0.1.0, its MACs: torchmeter/statistic.py, CalMeter.
constexpr std::array kTorchmeter{
    ToolRow{BATCH_NORMS " sigmoid prelu rrelu leaky_relu", in<2>},
    ToolRow{"tanh", in<5>},
    ToolRow{"relu relu6", in<1>},
    ToolRow{"hardtanh", relu6},
    ToolRow{"silu", in<3>},
    ToolRow{MAX_POOLS " " AVG_POOLS, out_by_window_minus_1},
};

// torchmeter 0.1.0, its FLOPs, from the same place. Operators without a rule count two per MAC.
constexpr std::array kTorchmeterFlops{
    ToolRow{BIASED " " LINEARS, twice_without_first_addition},
    ToolRow{BATCH_NORMS " sigmoid prelu rrelu leaky_relu", in<4>},
    ToolRow{"tanh", in<9>},
    ToolRow{"relu relu6", in<1>},
    ToolRow{"hardtanh", relu6},
    ToolRow{"silu", in<5>},
    ToolRow{MAX_POOLS, out_by_window_minus_1},
    ToolRow{AVG_POOLS, out_by_twice_window_minus_1},
};

// torchstat 0.0.7, its "Flops": torchstat/compute_flops.py.
constexpr std::array kTorchstat{
    ToolRow{BIASED, macs_and_bias},
    ToolRow{BATCH_NORMS, in_by_weight<2, 1>},
    ToolRow{"relu relu6 prelu elu leaky_relu " MAX_POOLS " " AVG_POOLS, in<1>},
    ToolRow{"hardtanh", relu6},
    ToolRow{NEAREST " " SMOOTH, out<1>},
};

// torchstat 0.0.7, its "MAdd": torchstat/compute_madd.py. Operators without a rule count two per
// MAC.
constexpr std::array kTorchstatMadd{
    ToolRow{BIASED, twice_without_first_addition},
    ToolRow{"linear addmm _addmm_activation mkldnn_linear", twice_without_first_addition_or_bias},
    ToolRow{BATCH_NORMS, in<4>},
    ToolRow{"relu relu6", in<1>},
    ToolRow{"hardtanh", relu6},
    ToolRow{"softmax _softmax", softmax_3n_minus_1},
    ToolRow{MAX_POOLS, out_by_window_minus_1},
    ToolRow{AVG_POOLS, out_by_window},
};

std::span<const ToolRow> rows_of(Tool tool) {
  switch (tool) {
    case Tool::kThop:
      return kThop;
    case Tool::kPtflops:
      return kPtflops;
    case Tool::kTorchinfo:
      return kTorchinfo;
    case Tool::kTorchmeter:
      return kTorchmeter;
    case Tool::kTorchmeterFlops:
      return kTorchmeterFlops;
    case Tool::kTorchstatMadd:
      return kTorchstatMadd;
    default:
      return kTorchstat;
  }
}

bool lists(std::string_view names, std::string_view name) {
  for (size_t from = 0; from < names.size();) {
    const size_t to = std::min(names.find(' ', from), names.size());
    if (names.substr(from, to - from) == name) return true;
    from = to + 1;
  }
  return false;
}

Formula formula_of(const Node& n, Tool tool) {
  if (tmeter::op_class(n.op()) == tmeter::OpClass::kOther) return nullptr;  // a stranger's operator
  const auto name = tmeter::base_name(n.op());
  for (const auto& row : rows_of(tool))
    if (lists(row.names, name)) return row.formula;
  return nullptr;
}

}  // namespace

Cell tool_flops(const Node& n, Tool tool, const Cell& macs) {
  if (const auto formula = formula_of(n, tool)) {
    if (!macs.known()) return Cell::unsupported();
    return formula(n, macs.count());
  }
  const bool by_two = tool == Tool::kTorchmeterFlops || tool == Tool::kTorchstatMadd;
  return by_two && macs.is_int() ? Cell(macs.count() * 2) : macs;
}

}  // namespace flops
