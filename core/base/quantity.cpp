#include "core/base/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

struct Unit {
  std::string_view name;
  Dimension dimension;
  int64_t factor;
  int64_t divisor = 1;  // a quotient is rounded once, a product with 1e-3 twice
  bool listed = true;   // false: an alternative spelling
};

constexpr std::array kUnits{
    Unit{"K", kDimensionless, 1'000},
    Unit{"k", kDimensionless, 1'000, 1, false},
    Unit{"M", kDimensionless, 1'000'000},
    Unit{"G", kDimensionless, 1'000'000'000},
    Unit{"T", kDimensionless, 1'000'000'000'000},
    Unit{"B", kBytes, 1},
    Unit{"KB", kBytes, 1'000},
    Unit{"kB", kBytes, 1'000, 1, false},
    Unit{"MB", kBytes, 1'000'000},
    Unit{"GB", kBytes, 1'000'000'000},
    Unit{"TB", kBytes, 1'000'000'000'000},
    Unit{"KiB", kBytes, int64_t{1} << 10},
    Unit{"MiB", kBytes, int64_t{1} << 20},
    Unit{"GiB", kBytes, int64_t{1} << 30},
    Unit{"TiB", kBytes, int64_t{1} << 40},
    Unit{"s", kTime, 1},
    Unit{"ms", kTime, 1, 1'000},
    Unit{"us", kTime, 1, 1'000'000},
    Unit{"µs", kTime, 1, 1'000'000, false},  // U+00B5, the micro sign
    Unit{"μs", kTime, 1, 1'000'000, false},  // U+03BC, the Greek letter
    Unit{"ns", kTime, 1, 1'000'000'000},
    Unit{"min", kTime, 60},
    Unit{"h", kTime, 3'600},
    Unit{"J", kEnergy, 1},
    Unit{"mJ", kEnergy, 1, 1'000},
    Unit{"uJ", kEnergy, 1, 1'000'000},
    Unit{"µJ", kEnergy, 1, 1'000'000, false},
    Unit{"μJ", kEnergy, 1, 1'000'000, false},
    Unit{"nJ", kEnergy, 1, 1'000'000'000},
    Unit{"%", kShare, 1, 100},
};
constexpr Unit kNone{"", kDimensionless, 1};

const Unit* find_unit(std::string_view name, unsigned dimensions) {
  if (name.empty()) return &kNone;
  for (const auto& u : kUnits)
    if ((u.dimension & dimensions) != 0 && u.name == name) return &u;
  return nullptr;
}

Quantity invalid_quantity(std::string problem) { return {.problem = std::move(problem)}; }

}  // namespace

Quantity parse_quantity(std::string_view text, unsigned dimensions) {
  const auto shown = "'" + printable(text, 60) + "'";
  auto digits = text;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  double value = 0;
  const auto* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::result_out_of_range) return invalid_quantity(shown + " is out of range");
  if (error != std::errc() || !std::isfinite(value))
    return invalid_quantity(shown + " is not a number");
  digits = digits.substr(0, static_cast<size_t>(stop - digits.data()));
  const std::string_view name(stop, static_cast<size_t>(end - stop));
  // A character that cannot begin a unit belongs to the number: "1,5", "1_000".
  if (!name.empty() && std::string_view("0123456789.,_+-'").find(name[0]) != std::string_view::npos)
    return invalid_quantity(shown + " is not a number");
  const auto* unit = find_unit(name, dimensions);
  if (!unit)
    return invalid_quantity("unknown unit '" + printable(name, 60) +
                            "'; known units: " + unit_names(dimensions));

  Quantity q;
  q.value = value * static_cast<double>(unit->factor) / static_cast<double>(unit->divisor);
  q.unit = unit->name;
  q.scale = static_cast<double>(unit->factor) / static_cast<double>(unit->divisor);
  q.dimension = unit->dimension;
  if (!std::isfinite(q.value)) return invalid_quantity(shown + " is out of range");
  int64_t whole = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  const bool is_whole = parsed.ec == std::errc() && parsed.ptr == stop && unit->divisor == 1;
  if (is_whole && !__builtin_mul_overflow(whole, unit->factor, &whole)) q.whole = whole;
  return q;
}

std::string unit_names(unsigned dimensions) {
  std::string names;
  for (const auto& u : kUnits)
    if (u.listed && (u.dimension & dimensions) != 0)
      names += (names.empty() ? "" : ", ") + std::string(u.name);
  return names;
}

std::string short_number(double value, std::optional<double> other) {
  constexpr int kDigits = 4, kMaxDigits = 17;
  const auto rounded = [](double x, int digits) {
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), x,
                                   std::chars_format::general, digits);
    return std::string(text.data(), end.ptr);
  };
  int digits = kDigits;
  if (other && *other != value) {
    while (digits < kMaxDigits && rounded(value, digits) == rounded(*other, digits)) ++digits;
  }
  return rounded(value, digits);
}

}  // namespace tmeter::core
