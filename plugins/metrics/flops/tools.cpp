#include "tools.hpp"

#include <array>
#include <span>
#include <tmeter/cpp/op_class.hpp>

#include "tool_formulas.hpp"

namespace flops {
namespace {

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
