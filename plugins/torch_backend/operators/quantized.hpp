// Quantized weights as TorchScript stores them: inside objects of LibTorch's own classes, which
// pack them for one processor while they are read.
//
// tmeter packs nothing. An object keeps the content of the file – the quantized weight, the bias,
// the parameters of a convolution – and operators that take it (quantized::linear) get the shapes
// that follow. No code of the file runs for that.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "operators/libtorch.hpp"
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {

struct Packed {
  at::Tensor weight;  // [out, in], or [out, in / groups, kernel…]
  at::Tensor bias;    // may be undefined
  std::vector<int64_t> stride, padding, dilation, output_padding;  // parameters of a convolution
  int64_t groups = 1;
  bool transposed = false;
};

/// An object of one of LibTorch's packed classes, with its state from the file. Empty for other
/// classes and for states of another form.
std::optional<c10::IValue> packed_object(const c10::ClassTypePtr& type, const c10::IValue& state);

/// A quantized convolution of torch.ao.nn.quantized. Its own __setstate__ would pack the weight.
/// Empty for other modules.
std::optional<c10::intrusive_ptr<c10::ivalue::Object>> packed_module(const c10::StrongTypePtr& type,
                                                                     const c10::IValue& state);

/// The contents of such an object; nullopt for any other value.
std::optional<Packed> packed(const c10::IValue& value);

/// Lets LibTorch's unpickler create quantized tensors without values. Takes effect once per
/// process.
void register_quantized_factories();

/// Replaces the arguments by meta tensors of the results' shapes. False if no argument is a packed
/// weight or the operator is unknown.
bool execute_packed(const OperatorInfo& info, torch::jit::Stack& args);

/// LibTorch has few operators for quantized meta tensors. During a call, float tensors replace
/// them; float results become quantized again. Quantized tensors have shapes and types here, but no
/// scales.
class QuantizedArguments {
 public:
  explicit QuantizedArguments(torch::jit::Stack& args);
  void restore(const OperatorInfo& info, torch::jit::Stack& results) const;

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> replaced_;
};

}  // namespace tmeter::torch_backend
