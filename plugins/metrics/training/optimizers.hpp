// Gradients, optimizer states and the work of an optimizer's step, of one parameter.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

namespace training {

inline constexpr std::string_view kOptimizerNames =
    "adamw adam sgd momentum adafactor lion muon adam8bit";
inline constexpr std::string_view kPrecisionNames = "recorded fp32 bf16 bf16-mixed";

/// A parameter as the optimizer sees it: its elements, and the matrix of the last two dims.
struct TrainedTensor {
  int64_t rank = 0;
  tmeter::Count numel = 0, rows = 1, columns = 1;  // numel = batch × rows × columns
  tmeter::DType dtype{};
};
TrainedTensor trained_tensor(const tmeter::Tensor& parameter);

struct ParameterCost {
  tmeter::Count gradient = 0;     // bytes
  tmeter::Count states = 0;       // bytes, with master weights
  tmeter::Count temporaries = 0;  // bytes while the optimizer works on this parameter
  tmeter::Count left_over = 0;    // of them, until the next parameter's are made
  tmeter::Count flops = 0;
};

/// `optimizer` and `precision` are of the names above.
ParameterCost parameter_cost(const TrainedTensor& parameter, std::string_view optimizer,
                             std::string_view precision);

/// Bytes that the optimizer keeps once for all parameters which use them: adam8bit's tables of the
/// values that a byte stands for.
tmeter::Count shared_state_bytes(const TrainedTensor& parameter, std::string_view optimizer);

/// Bytes of an element of weights and activations; 0: as recorded.
int64_t weight_bytes_of(std::string_view precision);

/// Where CUDA's optimizers work on all parameters at once (`foreach`), their temporaries add up.
bool works_on_all(std::string_view optimizer);

}  // namespace training
