#include "fvcore.hpp"

#include <algorithm>
#include <array>
#include <tmeter/cpp/op_class.hpp>

#include "ops/fvcore_einsum.hpp"
#include "ops/shapes.hpp"

namespace flops {
namespace {

// Sources: fvcore 0.1.5, fvcore/nn/flop_count.py (which operators) and jit_handles.py (formulas).
using Formula = Count (*)(const Node&);
/// conv_flop_count, addmm_flop_jit, linear_flop_jit and bmm_flop_jit count what `macs` counts.
constexpr Formula kAsMacs = nullptr;

// matmul_flop_jit: prod(left) * right[-1]. It ignores dims over which the right side broadcasts.
Count matmul(const Node& n) {
  const auto right = tensor_arg(n, {"other", "mat2"}).shape();
  if (right.rank() < 2) throw Unsupported("fvcore fails on a matrix-vector product");
  return tensor_arg(n, {"self"}).numel() * right.back();
}

// batchnorm_flop_jit: folded in eval mode; norm_flop_counter: "5 is just a rough estimate".
Count statistics_norm(const Node& n) {
  return data(n).numel() * (has_tensor(n, {"weight"}) ? 5 : 4);
}
Count folded_norm(const Node& n) { return data(n).numel() * (has_tensor(n, {"weight"}) ? 2 : 1); }
Count batch_norm(const Node& n) {
  const bool training = n.arg("training").as_bool() || n.arg("train").as_bool();
  return training ? statistics_norm(n) : folded_norm(n);
}

// elementwise_flop_counter(input_scale, output_scale)
Count input_once(const Node& n) { return data(n).numel(); }
Count output_once(const Node& n) { return output(n).numel(); }
Count output_times_4(const Node& n) { return output(n).numel() * 4; }

struct Row {
  std::string_view op;
  Formula formula;
};

// fvcore sees traced operators: `_convolution` for every convolution, two `linear` for a recurrent
// cell. An exported or decomposed graph has others for the same work, which get the same formula.
constexpr std::array kRows{
    Row{"aten::_adaptive_avg_pool2d", input_once},
    Row{"aten::_convolution", kAsMacs},
    Row{"aten::_native_batch_norm_legit", batch_norm},
    Row{"aten::_native_batch_norm_legit_no_training", folded_norm},
    Row{"aten::adaptive_avg_pool2d", input_once},
    Row{"aten::addmm", kAsMacs},
    Row{"aten::batch_norm", batch_norm},
    Row{"aten::bmm", kAsMacs},
    Row{"aten::conv1d", kAsMacs},
    Row{"aten::conv2d", kAsMacs},
    Row{"aten::conv3d", kAsMacs},
    Row{"aten::conv_transpose1d", kAsMacs},
    Row{"aten::conv_transpose2d", kAsMacs},
    Row{"aten::conv_transpose3d", kAsMacs},
    Row{"aten::convolution", kAsMacs},
    Row{"aten::cudnn_batch_norm", batch_norm},
    Row{"aten::einsum", fvcore_einsum},
    Row{"aten::grid_sampler", output_times_4},
    Row{"aten::grid_sampler_2d", output_times_4},
    Row{"aten::grid_sampler_3d", output_times_4},
    Row{"aten::group_norm", statistics_norm},
    Row{"aten::gru_cell", kAsMacs},
    Row{"aten::instance_norm", statistics_norm},
    Row{"aten::layer_norm", statistics_norm},
    Row{"aten::linear", kAsMacs},
    Row{"aten::lstm_cell", kAsMacs},
    Row{"aten::matmul", matmul},
    Row{"aten::mm", kAsMacs},
    Row{"aten::native_batch_norm", batch_norm},
    Row{"aten::native_group_norm", statistics_norm},
    Row{"aten::native_layer_norm", statistics_norm},
    Row{"aten::rnn_relu_cell", kAsMacs},
    Row{"aten::rnn_tanh_cell", kAsMacs},
    Row{"aten::upsample_bilinear2d", output_times_4},
    Row{"aten::upsample_nearest2d", output_once},
};
static_assert(std::is_sorted(kRows.begin(), kRows.end(),
                             [](const Row& a, const Row& b) { return a.op < b.op; }));

/// nn.Conv with padding="same" is traced as aten::_convolution_mode, which fvcore does not know.
bool is_convolution_mode(const Node& n) { return n.overload() == "padding"; }

const Row* find(std::string_view op) {
  const auto at = std::lower_bound(kRows.begin(), kRows.end(), op,
                                   [](const Row& r, std::string_view o) { return r.op < o; });
  return at != kRows.end() && at->op == op ? &*at : nullptr;
}

}  // namespace

Cell fvcore_flops(const Node& n, const Cell& macs, tmeter::Call& call) {
  if (const auto* row = find(n.op()); row && !is_convolution_mode(n))
    return row->formula ? Cell(row->formula(n)) : macs;
  if (!macs.known()) return Cell::unsupported();
  if (macs.count() > 0) {
    call.warn("fvcore does not count " + std::string(n.op()) +
              ": its multiply-accumulates are in `macs`, but not in `flops` by this convention");
  }
  return Cell::zero_by_rule();
}

}  // namespace flops
