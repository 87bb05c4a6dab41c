// Carbon intensity of public electricity by region, in grams of CO2e per kWh.
#pragma once
#include <string>
#include <string_view>

#pragma GCC visibility push(hidden)
namespace energy {

struct Region {
  std::string_view code;  ///< ISO 3166-1 alpha-2, "EU" or "WORLD"
  std::string_view name;
  double grams;  ///< of CO2e for one kWh, as generated in that year
  int year;
};

/// The source of all regions' values.
inline constexpr std::string_view kGridSource =
    "Ember, Yearly Electricity Data, CC BY 4.0 (life-cycle emissions of generation; imports, grid "
    "losses and hours are not included)";

/// Null for an unknown code.
const Region* region_of(std::string_view code);
/// All codes, separated by spaces.
std::string region_codes();

inline double grams_of(double joules, double grams_per_kwh) {
  return joules / 3.6e6 * grams_per_kwh;
}

}  // namespace energy
#pragma GCC visibility pop
