#include "plugins/common/serving/sizes.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace serving {

std::optional<int64_t> bytes_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 10> kUnits{{{"", 1},
                                                                        {"B", 1},
                                                                        {"KB", 1e3},
                                                                        {"MB", 1e6},
                                                                        {"GB", 1e9},
                                                                        {"TB", 1e12},
                                                                        {"KiB", 0x1p10},
                                                                        {"MiB", 0x1p20},
                                                                        {"GiB", 0x1p30},
                                                                        {"TiB", 0x1p40}}};
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || !(number >= 0)) return std::nullopt;
  auto unit = std::string_view(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, factor] : kUnits) {
    if (unit != name) continue;
    const double bytes = number * factor;
    return bytes < 0x1p62 ? std::optional(static_cast<int64_t>(bytes)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace serving
