// The metrics of `energy`: the value of an operator that each shows, and what it needs.
#pragma once
#include <span>
#include <string>
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/energy/estimate.hpp"

namespace energy {

/// The electricity that the user chose.
struct Grid {
  std::optional<double> grams_per_kwh;  // of CO2e
  std::string words;                    // "344 g/kWh (Germany, 2024: …)"; else what to do
};

/// The value of option `region` for no region.
inline constexpr std::string_view kNoRegion = "none";

/// By the options `co2` and `region`.
Grid grid_of(const tmeter::Call& call);

struct Column {
  tmeter::MetricSpec spec;
  std::optional<double> (*value)(const Estimate&, const Grid&);
  /// Why the run has no such value; empty if it has.
  std::string (*missing)(const Scope&, const Grid&);
  bool by_tables;  // from the published tables, else from the profile of the run
  bool is_sum;     // 0 by rule where nothing is done; a quotient has no figure there
};

std::span<const Column> columns();

}  // namespace energy
