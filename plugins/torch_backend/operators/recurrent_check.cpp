#include "operators/recurrent_check.hpp"

#include <algorithm>
#include <array>

namespace tmeter::torch_backend {
namespace {

constexpr std::array<std::string_view, 4> kRecurrent{"aten::lstm", "aten::gru", "aten::rnn_tanh",
                                                     "aten::rnn_relu"};

const c10::IValue* argument_named(const OperatorInfo& op, const torch::jit::Stack& args,
                                  std::string_view name) {
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (op.args[i].name == name) return &args[i];
  }
  return nullptr;
}

void check_state(const at::Tensor& state, int64_t batch) {
  if (state.dim() != 3 || state.size(1) == batch) return;
  throw std::runtime_error("expects a hidden state for " + std::to_string(batch) +
                           " samples, got one for " + std::to_string(state.size(1)));
}

}  // namespace

void check_hidden_state(const OperatorInfo& op, const torch::jit::Stack& args) {
  if (op.overload != "input") return;
  if (std::find(kRecurrent.begin(), kRecurrent.end(), op.name) == kRecurrent.end()) return;
  const auto* input = argument_named(op, args, "input");
  const auto* hx = argument_named(op, args, "hx");
  const auto* batch_first = argument_named(op, args, "batch_first");
  if (!input || !hx || !batch_first || !input->isTensor() || input->toTensor().dim() != 3) return;
  const int64_t batch = input->toTensor().size(batch_first->toBool() ? 0 : 1);
  if (hx->isTensor()) return check_state(hx->toTensor(), batch);
  for (const at::Tensor& state : hx->toTensorVector()) check_state(state, batch);
}

}  // namespace tmeter::torch_backend
