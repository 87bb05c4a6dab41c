// One parameter in an optimizer's step: memory of gradient, states and temporaries, and work.
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
  tmeter::Count left_over = 0;    // of the temporaries, until those of the next parameter exist
  tmeter::Count flops = 0;
};

/// `optimizer` and `precision`: one of the names above.
ParameterCost parameter_cost(const TrainedTensor& parameter, std::string_view optimizer,
                             std::string_view precision);

/// Bytes of state that all parameters share, if this one uses it: adam8bit's tables, which decode
/// bytes.
tmeter::Count shared_state_bytes(const TrainedTensor& parameter, std::string_view optimizer);

/// Bytes of an element of weights and activations; 0: as recorded.
int64_t weight_bytes_of(std::string_view precision);

/// Whether the optimizer updates all parameters on CUDA at once (`foreach`), so that their
/// temporaries add up.
bool works_on_all(std::string_view optimizer);

}  // namespace training
