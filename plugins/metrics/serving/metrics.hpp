// The metrics of serving: memory, the bounds of speed, and the expected speed with its band.
#pragma once
#include <array>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "plugins/common/machine/curves.hpp"
#include "plugins/common/model_metrics.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace serving {

const std::vector<plugins::ModelMetric>& metrics();

/// Lower and upper bounds that need peak rates.
inline constexpr std::array<std::string_view, 3> kBounds{"serving_prefill_time",
                                                         "serving_step_time", "serving_rate"};
/// Each is followed by its machine::kBandEnds.
inline constexpr std::array<std::string_view, 3> kExpected{
    "serving_prefill_expected", "serving_step_expected", "serving_rate_expected"};
inline constexpr std::string_view kSpeculative = "serving_speculative_expected";

std::vector<std::string_view> ids_with_ends(std::span<const std::string_view> ids);

/// The three ends of a band.
void emit_band(const tmeter::Call& call, std::string_view id, const machine::Expected& value);

/// "serving_rate_8bit"
std::string of_bits(std::string_view id, int64_t bits);
inline constexpr std::array<int64_t, 2> kWeightBits{8, 4};

}  // namespace serving
#pragma GCC visibility pop
