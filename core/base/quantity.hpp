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
  double value = 0;                      // in B, s or J, or of no unit; finite
  std::optional<int64_t> whole{};        // the same without rounding, where it is a whole number
  Dimension dimension = kDimensionless;  // of its unit
  std::string_view unit{};               // "GiB"; empty: none was written
  double scale = 1;                      // of the unit, in B, s or J
  std::string problem{};                 // why the text is not a quantity; empty: it is one
};

/// Reads a finite decimal number, followed by a unit of one of the `dimensions` or by none. Does
/// not depend on the locale.
Quantity parse_quantity(std::string_view text, unsigned dimensions);

/// "B, KB, MB, …": the units of the dimensions.
std::string unit_names(unsigned dimensions);

/// "0.2246", "4.089e+09": at most four digits, or more, so that it differs from `other`.
std::string short_number(double value, std::optional<double> other = {});

}  // namespace tmeter::core
