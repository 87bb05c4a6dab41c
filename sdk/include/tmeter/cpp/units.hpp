// Numbers as people read them: 25.56 M, 97.49 MiB, 1.20 ms, 18.80 mJ.
//
// Counts step by 1000 (K M G T P E), bytes by 1024 (KiB …), joules and watts by 1000 in both
// directions, seconds ns … s, min, h; rates ("IPS", "B/s", "FLOP/J") and units of the SI ("Hz",
// "g", "J/token") take a prefix of 1000; others ("dB", "°C") none. Two
// decimals, but small integers have none. A value other than 0 never reads as 0. In every
// locale: a decimal point, no groups.
#pragma once
#include <array>
#include <charconv>
#include <cmath>

#include "count.hpp"

TMETER_SDK_BEGIN

struct Scaled {
  std::string number;  // "25.56"
  std::string unit;    // "M", "MiB", "ms"; empty for small counts
  std::string text() const { return unit.empty() ? number : number + " " + unit; }
};

namespace detail {

inline std::string format_real(double v, std::chars_format format, int precision) {
  std::array<char, 336> buffer;  // the largest double has 309 digits
  const auto done =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), v, format, precision);
  return {buffer.data(), done.ptr};
}

}  // namespace detail

/// printf's "%.Nf" for up to 20 `decimals`.
inline std::string fixed(double v, int decimals) {
  return detail::format_real(v, std::chars_format::fixed, decimals);
}

/// printf's "%.Ng": `digits` significant digits, with an exponent if that is shorter.
inline std::string general(double v, int digits = 6) {
  return detail::format_real(v, std::chars_format::general, digits);
}

/// The shortest text that reads back as the same number: "0.0188", "1e-09", "nan".
inline std::string shortest(double v) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr};
}

/// The exact text of the cell: "4089184256", "0.0188", "0" by rule, "unknown", "unavailable",
/// "in_module", "none" if it does not apply; "812 (partial)" for a value without some of its
/// parts.
inline std::string plain(const Cell& c) {
  if (c.empty()) return "none";
  if (c.is_unknown()) return "unknown";
  if (c.is_unavailable()) return "unavailable";
  if (c.in_module()) return "in_module";
  const auto number = c.is_int()      ? std::to_string(c.count().value())
                      : c.is_number() ? shortest(c.real())
                                      : "0";
  return c.partial() ? number + " (partial)" : number;
}

namespace detail {

/// "25.56", or "128" when `whole`; a value that would round to 0.00 keeps two digits instead.
inline std::string short_number(double v, bool whole) {
  if (whole) return fixed(v == 0 ? 0.0 : v, 0);  // -0 reads as 0
  return v != 0 && std::fabs(v) < 0.005 ? general(v, 2) : fixed(v, 2);
}

/// Numbers without prefixes: integers in full, else two decimals, or three
/// digits if decimals would show too little or too much.
inline std::string significant(double v) {
  const double size = std::fabs(v);
  if (v == std::floor(v) && size < 1e7) return short_number(v, true);
  return size >= 1 && size < 1e5 ? fixed(v, 2) : general(v, 3);
}

/// Whether two decimals would round up to a full `step`: 999.995 reads as 1.00 of the next unit.
constexpr double rounds_to(double step) { return step - 0.005; }

template <size_t N>
Scaled scale_up(double v, double step, const std::array<const char*, N>& prefixes,
                const std::string& unit = {}) {
  size_t i = 0;
  double x = v;
  while (i + 1 < N && std::fabs(x) >= rounds_to(step)) x /= step, ++i;
  return {short_number(x, i == 0 && x == std::floor(x)), prefixes[i] + unit};
}

inline constexpr std::array<const char*, 7> kCountPrefixes{"", "K", "M", "G", "T", "P", "E"};
inline constexpr std::array<const char*, 7> kByteUnits{"B",   "KiB", "MiB", "GiB",
                                                       "TiB", "PiB", "EiB"};

/// SI prefixes from `smallest` (a power of 1000: -4 is pico, -3 nano) upwards.
inline Scaled scale_si(double v, const std::string& unit, int smallest = -4) {
  static constexpr std::array<const char*, 10> kPrefixes{"p", "n", "u", "m", "",
                                                         "k", "M", "G", "T", "P"};
  if (v == 0) return {"0", unit};
  int power = 0;
  double x = v;
  while (power > smallest && std::fabs(x) < rounds_to(1000) / 1000) x *= 1000, --power;
  while (power < 5 && std::fabs(x) >= rounds_to(1000)) x /= 1000, ++power;
  return {short_number(x, false), std::string(kPrefixes[static_cast<size_t>(power + 4)]) + unit};
}

inline Scaled scale_seconds(double v) {
  if (std::fabs(v) >= 60 * rounds_to(60)) return {short_number(v / 3600, false), "h"};
  if (std::fabs(v) >= rounds_to(60)) return {short_number(v / 60, false), "min"};
  return scale_si(v, "s", -3);
}

/// "FLOP" of "FLOP/J"; the unit itself without a '/'.
inline std::string_view numerator(std::string_view unit) { return unit.substr(0, unit.find('/')); }

template <size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  for (const auto item : list)
    if (item == text) return true;
  return false;
}

/// Rates of counts: prefixes K M G.
inline bool is_rate(std::string_view unit) {
  constexpr std::array<std::string_view, 8> kCounted{"FLOP", "MAC",   "OP",    "BOP",
                                                     "B",    "token", "image", "sample"};
  if (unit == "IPS" || (unit.size() > 2 && unit.substr(unit.size() - 2) == "/s")) return true;
  return unit.find('/') != unit.npos && is_one_of(numerator(unit), kCounted);
}

/// Prefixes p … P.
inline bool is_si(std::string_view unit) {
  constexpr std::array<std::string_view, 8> kSymbols{"Hz", "g", "V", "A", "J", "W", "Wh", "eV"};
  return is_one_of(numerator(unit), kSymbols);
}

}  // namespace detail

/// `unit_kind` is TMETER_UNIT_…; `unit` is printed unchanged for unscaled kinds.
inline Scaled scaled(double v, int32_t unit_kind, std::string_view unit) {
  if (!std::isfinite(v)) return {std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf", {}};
  switch (unit_kind) {
    case TMETER_UNIT_COUNT:
    case TMETER_UNIT_OP:
      return detail::scale_up(v, 1000, detail::kCountPrefixes);
    case TMETER_UNIT_BYTE:
      return detail::scale_up(v, 1024, detail::kByteUnits);
    case TMETER_UNIT_SECOND:
      return detail::scale_seconds(v);
    case TMETER_UNIT_JOULE:
      return detail::scale_si(v, "J");
    case TMETER_UNIT_WATT:
      return detail::scale_si(v, "W");
    case TMETER_UNIT_RATIO:
      return {detail::short_number(v * 100, false), "%"};
    default:
      break;
  }
  const std::string name(unit);
  if (detail::is_si(unit)) return detail::scale_si(v, name);
  if (detail::is_rate(unit)) return detail::scale_up(v, 1000, detail::kCountPrefixes, name);
  return {detail::significant(v), name};
}

/// "25,557,032": exact, with commas between groups of three digits.
inline std::string grouped(int64_t v) {
  std::string digits = std::to_string(v);
  const size_t first = v < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

TMETER_SDK_END
