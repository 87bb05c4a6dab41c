#include "interval.hpp"

#include <array>
#include <charconv>

namespace system_load {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array<Unit, 3> kUnits{{{"ms", 1e-3}, {"s", 1}, {"min", 60}}};
constexpr double kMinSeconds = 0.01, kMaxSeconds = 3600;

}  // namespace

std::optional<uint64_t> interval_of(std::string_view text) {
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc()) return std::nullopt;
  const std::string_view unit(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  for (const auto& u : kUnits) {
    const double seconds = number * u.seconds;
    if (unit == u.name && seconds >= kMinSeconds && seconds <= kMaxSeconds)
      return static_cast<uint64_t>(seconds * 1e9 + 0.5);
  }
  return std::nullopt;
}

}  // namespace system_load
