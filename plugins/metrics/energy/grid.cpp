// Grams of CO2e per kWh of electricity generated, rounded to grams: Ember, Yearly Electricity Data,
// as published by The Green Web Foundation (co2.js, data/output/average-intensities.json of
// 2026-06-29).
#include "grid.hpp"

#include <algorithm>
#include <array>

namespace energy {
namespace {

constexpr auto kRegions = std::to_array<Region>({
    {"WORLD", "the world", 473, 2024},
    {"EU", "European Union", 213, 2024},
    {"AE", "United Arab Emirates", 468, 2024},
    {"AR", "Argentina", 345, 2024},
    {"AT", "Austria", 103, 2024},
    {"AU", "Australia", 554, 2024},
    {"BD", "Bangladesh", 695, 2024},
    {"BE", "Belgium", 118, 2024},
    {"BG", "Bulgaria", 264, 2024},
    {"BR", "Brazil", 106, 2024},
    {"CA", "Canada", 185, 2024},
    {"CH", "Switzerland", 37, 2024},
    {"CL", "Chile", 266, 2024},
    {"CN", "China", 558, 2024},
    {"CO", "Colombia", 286, 2024},
    {"CR", "Costa Rica", 63, 2024},
    {"CY", "Cyprus", 512, 2024},
    {"CZ", "Czechia", 414, 2024},
    {"DE", "Germany", 342, 2024},
    {"DK", "Denmark", 143, 2024},
    {"DZ", "Algeria", 634, 2023},
    {"EC", "Ecuador", 210, 2024},
    {"EE", "Estonia", 341, 2024},
    {"EG", "Egypt", 574, 2024},
    {"ES", "Spain", 146, 2024},
    {"FI", "Finland", 72, 2024},
    {"FR", "France", 44, 2024},
    {"GB", "United Kingdom", 216, 2024},
    {"GE", "Georgia", 143, 2024},
    {"GR", "Greece", 320, 2024},
    {"HK", "Hong Kong", 682, 2023},
    {"HR", "Croatia", 174, 2024},
    {"HU", "Hungary", 183, 2024},
    {"ID", "Indonesia", 682, 2023},
    {"IE", "Ireland", 280, 2024},
    {"IL", "Israel", 567, 2023},
    {"IN", "India", 709, 2024},
    {"IQ", "Iraq", 689, 2023},
    {"IR", "Iran", 649, 2024},
    {"IS", "Iceland", 28, 2023},
    {"IT", "Italy", 288, 2024},
    {"JO", "Jordan", 539, 2022},
    {"JP", "Japan", 484, 2024},
    {"KE", "Kenya", 85, 2024},
    {"KR", "South Korea", 416, 2024},
    {"KW", "Kuwait", 637, 2024},
    {"KZ", "Kazakhstan", 802, 2024},
    {"LK", "Sri Lanka", 510, 2022},
    {"LT", "Lithuania", 139, 2024},
    {"LU", "Luxembourg", 135, 2024},
    {"LV", "Latvia", 136, 2024},
    {"MA", "Morocco", 578, 2024},
    {"MX", "Mexico", 483, 2024},
    {"MY", "Malaysia", 604, 2024},
    {"NG", "Nigeria", 508, 2024},
    {"NL", "Netherlands", 253, 2024},
    {"NO", "Norway", 31, 2024},
    {"NZ", "New Zealand", 120, 2024},
    {"OM", "Oman", 545, 2024},
    {"PE", "Peru", 263, 2024},
    {"PH", "Philippines", 613, 2024},
    {"PK", "Pakistan", 399, 2024},
    {"PL", "Poland", 615, 2024},
    {"PT", "Portugal", 112, 2024},
    {"PY", "Paraguay", 25, 2023},
    {"QA", "Qatar", 603, 2024},
    {"RO", "Romania", 246, 2024},
    {"RS", "Serbia", 671, 2024},
    {"RU", "Russia", 446, 2024},
    {"SA", "Saudi Arabia", 692, 2024},
    {"SE", "Sweden", 36, 2024},
    {"SG", "Singapore", 499, 2024},
    {"SI", "Slovenia", 227, 2024},
    {"SK", "Slovakia", 96, 2024},
    {"TH", "Thailand", 555, 2024},
    {"TN", "Tunisia", 560, 2024},
    {"TR", "Türkiye", 470, 2024},
    {"TW", "Taiwan", 635, 2024},
    {"UA", "Ukraine", 250, 2022},
    {"US", "United States", 384, 2024},
    {"UY", "Uruguay", 97, 2024},
    {"UZ", "Uzbekistan", 1121, 2023},
    {"VN", "Viet Nam", 486, 2024},
    {"ZA", "South Africa", 714, 2024},
});

}  // namespace

const Region* region_of(std::string_view code) {
  const auto* at = std::find_if(kRegions.begin(), kRegions.end(),
                                [code](const Region& r) { return r.code == code; });
  return at == kRegions.end() ? nullptr : at;
}

std::string region_codes() {
  std::string codes;
  for (const auto& region : kRegions) codes.append(codes.empty() ? "" : " ").append(region.code);
  return codes;
}

}  // namespace energy
