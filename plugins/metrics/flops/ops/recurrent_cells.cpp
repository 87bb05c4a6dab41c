// Single steps of recurrent cells: input [batch, I] or [I], state of width H.
#include "recurrent.hpp"

namespace flops {
namespace {

Count state_width(const Node& n) {
  const auto hx = n.arg("hx");
  const auto h = hx.is_list() ? hx[0] : hx;
  if (!h.is_tensor() || h.shape().empty()) throw Unsupported("a recurrent cell without a state");
  return h.shape().back();
}

// Both weights are [gates * H, …]; the sizes of packed ones follow from input and state.
template <const GateCosts& cell>
Count cell_macs(const Node& n) {
  const auto x = tensor_arg(n, {"input"});
  const Count h = state_width(n);
  return steps(x) * cell.gates * h * (x.shape().back() + h);
}

template <const GateCosts& cell>
Count cell_other(const Node& n) {
  const bool biases = has_tensor(n, {"b_ih", "bias_ih"});
  return steps(tensor_arg(n, {"input"})) * state_width(n) *
         (cell.arithmetic + (biases ? cell.biases : 0));
}

// The two products are done already; only the gates are left.
template <const GateCosts& cell>
Count fused_gates(const Node& n) {
  const auto state = tensor_arg(n, {"cx", "hx"}).numel();
  const bool biases = has_tensor(n, {"input_bias"});
  return state * (cell.arithmetic + (biases ? cell.biases : 0));
}

}  // namespace

void register_recurrent_cells(tmeter::Registrar& r) {
  rules(r,
        {"aten::lstm_cell", "aten::quantized_lstm_cell", "quantized::quantized_lstm_cell_dynamic"},
        cell_macs<kLstm>, cell_other<kLstm>);
  rules(r, {"aten::gru_cell", "aten::quantized_gru_cell", "quantized::quantized_gru_cell_dynamic"},
        cell_macs<kGru>, cell_other<kGru>);
  rules(r,
        {"aten::rnn_tanh_cell", "aten::rnn_relu_cell", "aten::quantized_rnn_tanh_cell",
         "aten::quantized_rnn_relu_cell", "quantized::quantized_rnn_tanh_cell_dynamic",
         "quantized::quantized_rnn_relu_cell_dynamic"},
        cell_macs<kRnn>, cell_other<kRnn>);
  r.op("aten::_thnn_fused_lstm_cell").zero(kMacs).handle(kOther, fused_gates<kLstm>);
  r.op("aten::_thnn_fused_gru_cell").zero(kMacs).handle(kOther, fused_gates<kGru>);
}

}  // namespace flops
