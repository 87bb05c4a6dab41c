// Bytes of gradients and optimizer states of one parameter.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

namespace training {

inline constexpr std::string_view kOptimizerNames =
    "adamw adam sgd momentum adafactor lion muon adam8bit";
inline constexpr std::string_view kPrecisionNames = "recorded fp32 bf16 bf16-mixed";

struct ParameterCost {
  tmeter::Count gradient = 0;
  tmeter::Count states = 0;  // with master weights
};

/// `optimizer` and `precision` are of the names above.
ParameterCost parameter_cost(const tmeter::Tensor& parameter, std::string_view optimizer,
                             std::string_view precision);

}  // namespace training
