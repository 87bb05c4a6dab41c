// Weights the field keeps at 8 bits or more, by rule and not by measurement.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

namespace quantization {

/// Why: "first convolution", "token embedding", "output layer"; empty for all others.
std::string_view sensitive_by_rule(const tmeter::Tensor& tensor);

}  // namespace quantization
