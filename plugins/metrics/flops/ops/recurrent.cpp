// Recurrent layers: every step multiplies by each weight matrix of each layer and direction once,
// so MACs = steps * batch * (elements of all weight matrices), projections included.
// FlopCounterMode counts none of these on a CPU (mkldnn and cuDNN kernels have no formula there),
// except what GRU and RNN decompose into, which agrees.
#include <tmeter/cpp/op_class.hpp>

#include "elementwise.hpp"
#include "facts.hpp"

namespace flops {
namespace {

/// One kind of recurrent cell. The gate equations are those of the torch.nn documentation; x and h
/// are the two matrix products, which count as MACs.
struct GateCosts {
  int64_t gates;       // hidden-size blocks in a weight
  int64_t arithmetic;  // per hidden unit and step, without biases
  int64_t biases;      // additions per hidden unit and step with biases
};

// LSTM: four sums x + h, three sigmoids, tanh(g), f*c + i*g, o * tanh(c).
constexpr GateCosts kLstm{4, 4 + 3 * kSigmoidCost + kTanhCost + 3 + kTanhCost + 1, 8};
// GRU: two sums and sigmoids, tanh(x + r*h), (h - n)*z + n.
constexpr GateCosts kGru{3, 2 + 2 * kSigmoidCost + 2 + kTanhCost + 3, 6};
// RNN: tanh or relu of x + h.
constexpr GateCosts kRnn{1, 1 + kTanhCost, 2};

/// Sequence steps of all batch entries together: the input without its last dim. True for
/// [T, B, I], [B, T, I], unbatched [T, I] and packed [sum of lengths, I] alike.
Count steps(const Value& input) {
  const auto s = input.shape();
  if (s.empty()) throw Unsupported("a recurrent layer over a scalar");
  return s.product(0, s.rank() - 1);
}

Value sequence(const Node& n) { return tensor_arg(n, {"input", "data"}); }

Count hidden_size(const Node& n) {
  const auto hx = n.arg("hx");
  const auto h = hx.is_list() ? hx[hx.size() - 1] : hx;  // an LSTM's [h, c]: c is not projected
  if (!h.is_tensor() || h.shape().empty()) throw Unsupported("a recurrent layer without a state");
  return h.shape().back();
}

Count directions(const Node& n) { return n.arg("bidirectional").as_bool() ? 2 : 1; }

// Hidden weights: layer 0 reads the input, the others the output of both directions.
template <const GateCosts& cell>
Count packed_weights(const Node& n) {
  const Count h = hidden_size(n), d = directions(n), in = sequence(n).shape().back();
  const Count layers = n.arg("num_layers").as_int(1);
  return d * cell.gates * h * (in + h + (layers - 1) * (d * h + h));
}

template <const GateCosts& cell>
Count weights(const Node& n) {
  const auto params = n.arg(n.arg("params").is_list() ? "params" : "weight");
  Count sum = 0;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].shape().rank() >= 2) sum += params[i].numel();
  return sum == 0 ? packed_weights<cell>(n) : sum;
}

template <const GateCosts& cell>
Count macs(const Node& n) {
  const auto all = steps(sequence(n));  // first: it refuses a scalar
  return all * weights<cell>(n);
}

template <const GateCosts& cell>
Count other(const Node& n) {
  const Count units = hidden_size(n) * directions(n) * n.arg("num_layers").as_int(1);
  const bool biases = n.arg("has_biases").as_bool(true);
  return steps(sequence(n)) * units * (cell.arithmetic + (biases ? cell.biases : 0));
}

// One layer and direction: weight0 and weight1 are matrices, weight2 and weight3 their biases.
Count mkldnn_macs(const Node& n) {
  return steps(sequence(n)) *
         (tensor_arg(n, {"weight0"}).numel() + tensor_arg(n, {"weight1"}).numel());
}

// `mode` as in torch's kernels for cuDNN, MIOpen and mkldnn: 0 relu, 1 tanh, 2 LSTM, 3 GRU.
const GateCosts& by_mode(const Node& n) {
  const auto mode = n.arg("mode").as_int(-1);
  if (mode < 0 || mode > 3) throw Unsupported("a recurrent layer of unknown mode");
  return mode == 2 ? kLstm : mode == 3 ? kGru : kRnn;
}

Count by_mode_macs(const Node& n) {
  const auto list = n.arg("weight");
  Count sum = 0;
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].shape().rank() >= 2) sum += list[i].numel();
  if (sum == 0) throw Unsupported("recurrent weights are hidden in packed parameters");
  return steps(sequence(n)) * sum;
}

Count by_mode_other(const Node& n) {
  const auto& cell = by_mode(n);
  const Count units =
      Count(n.arg("hidden_size").as_int()) * directions(n) * n.arg("num_layers").as_int(1);
  return steps(sequence(n)) * units * (cell.arithmetic + cell.biases);
}

Count mkldnn_other(const Node& n) {
  const auto& cell = by_mode(n);
  const bool biases = n.arg("has_biases").as_bool(true);
  return steps(sequence(n)) * n.arg("hidden_size").as_int() *
         (cell.arithmetic + (biases ? cell.biases : 0));
}

struct Kind {
  std::string_view name;
  const GateCosts& cell;
};
constexpr Kind kKinds[] = {{"lstm", kLstm},           {"gru", kGru},        {"rnn_tanh", kRnn},
                           {"rnn_relu", kRnn},        {"_cudnn_rnn", kRnn}, {"miopen_rnn", kRnn},
                           {"mkldnn_rnn_layer", kRnn}};

/// A kernel for several kinds selects one by `mode`.
std::optional<Recurrence> kernel_recurrence(const Node& n) {
  const bool one_layer = n.op() == "aten::mkldnn_rnn_layer";
  const Count units = Count(n.arg("hidden_size").as_int()) *
                      (one_layer ? Count(1) : directions(n) * n.arg("num_layers").as_int(1));
  return Recurrence{units * steps(sequence(n)), by_mode(n).gates,
                    n.arg("has_biases").as_bool(true)};
}

// Single steps of recurrent cells: input [batch, I] or [I], state of width H.

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

// The two products are separate operators; only the gates are counted.
template <const GateCosts& cell>
Count fused_gates(const Node& n) {
  const auto state = tensor_arg(n, {"cx", "hx"}).numel();
  const bool biases = has_tensor(n, {"input_bias"});
  return state * (cell.arithmetic + (biases ? cell.biases : 0));
}

}  // namespace

std::optional<Recurrence> recurrence_of(const Node& n) {
  auto name = tmeter::base_name(n.op());
  const bool single = name.ends_with("_cell");
  if (single) name.remove_suffix(5);
  for (const auto& kind : kKinds) {
    if (kind.name != name) continue;
    if (!n.arg("mode").is_none() && &kind.cell == &kRnn && !name.starts_with("rnn_"))
      return kernel_recurrence(n);
    const Count layers = single ? Count(1) : directions(n) * n.arg("num_layers").as_int(1);
    const bool biases =
        single ? has_tensor(n, {"b_ih", "bias_ih"}) : n.arg("has_biases").as_bool(true);
    return Recurrence{steps(sequence(n)) * hidden_size(n) * layers, kind.cell.gates, biases};
  }
  return std::nullopt;
}

void register_recurrent(tmeter::Registrar& r) {
  rules(r, {"aten::lstm", "aten::_lstm_mps", "aten::quantized_lstm"}, macs<kLstm>, other<kLstm>);
  rules(r, {"aten::gru", "aten::quantized_gru"}, macs<kGru>, other<kGru>);
  rules(r, {"aten::rnn_tanh", "aten::rnn_relu"}, macs<kRnn>, other<kRnn>);
  rules(r, {"aten::mkldnn_rnn_layer"}, mkldnn_macs, mkldnn_other);
  rules(r, {"aten::_cudnn_rnn", "aten::miopen_rnn"}, by_mode_macs, by_mode_other);
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
