// The metrics of `energy`: the formula of each, and its inputs.
#pragma once
#include <span>
#include <string>
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/energy/estimate.hpp"

namespace energy {

/// The carbon intensity of the user's electricity.
struct Grid {
  std::optional<double> grams_per_kwh;  // of CO2e; empty if unknown
  std::string text;                     // "344 g/kWh (Germany, 2024: …)"; if unknown, the remedy
};

/// The value of the option `region` that means no region.
inline constexpr std::string_view kNoRegion = "none";

/// From the options `co2` and `region`.
Grid grid_of(const tmeter::Call& call);

struct Column {
  tmeter::MetricSpec spec;
  std::optional<double> (*value)(const Estimate&, const Grid&);
  /// Why the run has no such value; empty if it has one.
  std::string (*missing)(const Scope&, const Grid&);
  bool by_tables;  // from the published tables; otherwise from the profile of the run
  bool is_sum;     // 0 by rule if nothing is computed; a quotient then has no value
};

std::span<const Column> columns();

}  // namespace energy
