// A number with a unit as users type it: "5G", "8 GiB", "500ms", "2%". The only table
// of units: bounds, limits and times accept the same ones.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tmeter::core {

/// What a unit measures; a set of bits.
enum Dimension : unsigned {
  kDimensionless = 1,  // K, M, G, T
  kBytes = 2,          // B, KB, KiB, …
  kTime = 4,           // s, ms, us, ns, min, h
  kEnergy = 8,         // J, mJ, uJ, nJ
  kShare = 16,         // %
};

struct Quantity {
  double value = 0;                      // in B, s or J, or without a unit; finite
  std::optional<int64_t> whole{};        // the same without rounding, if it is an integer
  Dimension dimension = kDimensionless;  // dimension of its unit
  std::string_view unit{};               // "GiB"; empty: none was written
  double scale = 1;                      // size of the unit, in B, s or J
  std::string problem{};                 // the defect of the text; empty if it is a quantity
};

/// Reads a finite decimal number with or without a unit of one of the `dimensions`. Does
/// not depend on the locale.
Quantity parse_quantity(std::string_view text, unsigned dimensions);

/// "B, KB, MB, …": the units of the dimensions.
std::string unit_names(unsigned dimensions);

/// "0.2246", "4.089e+09": four digits at most, or as many as distinguish it from `other`.
std::string short_number(double value, std::optional<double> other = {});

}  // namespace tmeter::core
