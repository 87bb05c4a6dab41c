// Quantized weights as TorchScript stores them: inside objects of LibTorch's own classes, which
// pack them for one processor while they are read.
//
// Nothing is packed here. An object keeps what the file has – the quantized weight, the bias, how a
// convolution steps – and the operators that take it (quantized::linear) are given the shapes that
// follow (run/packed_operators.hpp). No code of the file runs for that.
#pragma once
#include <optional>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct Packed {
  at::Tensor weight;  // [out, in], or [out, in / groups, kernel…]
  at::Tensor bias;    // undefined when there is none
  std::vector<int64_t> stride, padding, dilation, output_padding;  // of a convolution
  int64_t groups = 1;
  bool transposed = false;
};

/// The object for a value of one of LibTorch's packed classes, with the state that the file has for
/// it. Nothing when the class is another, or the state of another form.
std::optional<c10::IValue> packed_object(const c10::ClassTypePtr& type, const c10::IValue& state);

/// A quantized convolution of torch.ao.nn.quantized, filled as its __setstate__ would, which packs
/// the weight. Nothing when it is no such module.
std::optional<c10::intrusive_ptr<c10::ivalue::Object>> packed_module(const c10::StrongTypePtr& type,
                                                                     const c10::IValue& state);

/// What such an object keeps; nothing for any other value.
std::optional<Packed> packed(const c10::IValue& value);

/// Once per process: lets LibTorch's unpickler make quantized tensors without values.
void register_quantized_factories();

}  // namespace tmeter::torch_backend
