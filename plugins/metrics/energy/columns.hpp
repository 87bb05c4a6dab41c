// The metrics of `energy`: the formula of each, and its inputs.
#pragma once
#include <span>
#include <string>
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/energy/estimate.hpp"

namespace energy {

/// The electricity that the user chose.
struct Grid {
  std::optional<double> grams_per_kwh;  // grams of CO2e per kWh
  std::string words;                    // "344 g/kWh (Germany, 2024: …)"; else the remedy
};

/// The value of option `region` for no region.
inline constexpr std::string_view kNoRegion = "none";

/// The figure of the options `co2` and `region`.
Grid grid_of(const tmeter::Call& call);

struct Column {
  tmeter::MetricSpec spec;
  std::optional<double> (*value)(const Estimate&, const Grid&);
  /// Why the run has no such value; empty if it has.
  std::string (*missing)(const Scope&, const Grid&);
  bool by_tables;  // from the published tables, else from the profile of the run
  bool is_sum;     // 0 by rule if nothing is computed; a quotient then has no figure
};

std::span<const Column> columns();

}  // namespace energy
