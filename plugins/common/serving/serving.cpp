#include "plugins/common/serving/serving.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <tmeter/cpp/units.hpp>
#include <utility>

#include "plugins/common/serving/largest.hpp"
#include "plugins/common/utf8.hpp"

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

using tmeter::Call;
using tmeter::Count;

std::optional<Count> memory_option(const Call& call, std::string_view key, std::string_view name) {
  const auto text = call.option_text(key);
  if (text.empty()) return std::nullopt;
  const auto bytes = bytes_of(text);
  if (bytes && *bytes > 0) return Count(*bytes);
  throw tmeter::Error(TMETER_BAD_USAGE, std::string(name) + "='" + plugins::readable(text) +
                                            "': a size above 0 is expected, as in 24GiB or 80GB");
}

std::optional<double> number_option(const Call& call, std::string_view key, double most) {
  const auto text = call.option_text(key);
  if (text.empty()) return std::nullopt;
  double number = -1;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end && number >= 0 && number <= most) return number;
  throw tmeter::Error(TMETER_BAD_USAGE, "serving." + std::string(key) + "='" +
                                            plugins::readable(text) + "': a number of 0 to " +
                                            std::to_string(static_cast<int64_t>(most)) +
                                            " is expected");
}

std::optional<Count> published_memory(const Call& call) {
  double capacity = 0;
  if (!call.hardware_number("capacity.dram", capacity)) return std::nullopt;
  return Count(static_cast<int64_t>(capacity));
}

Request request_of(const Call& call, std::string_view prefix, int64_t recorded) {
  const auto key = [prefix](std::string_view name) { return std::string(prefix).append(name); };
  Request out;
  out.engine = engine(call.option_text(key("engine")));
  const auto type = cache_type(call.option_text(key("cache-type")));
  out.load = {call.option_int(key("context")),
              call.option_int(key("sequences")),
              call.option_int(key("batch")),
              *type,
              call.option_int(key("devices")),
              {call.option_int(key("own-padding")), call.option_int(key("own-window-extra")),
               call.option_int(key("own-state-bytes")), call.option_int(key("own-reads"))}};
  out.own_context = out.load.context == 0;
  if (out.own_context) out.load.context = recorded;
  const auto given = memory_option(call, key("memory"), "serving.memory");
  const auto share = call.option_float(key("memory-share"));
  out.memory_share = share > 0 ? share : out.engine->memory_share;
  out.memory = memory_of_all(out.usable(given ? *given : published_memory(call).value_or(0)),
                             out.load.devices, "serving.memory");
  return out;
}

Count Request::usable(Count each) const {
  if (memory_share == 1) return each;
  return Count(static_cast<int64_t>(static_cast<double>(each.value()) * memory_share));
}

Count memory_of_all(Count each, int64_t devices, std::string_view name) {
  if (each.value() > std::numeric_limits<int64_t>::max() / devices)
    throw tmeter::Error(TMETER_BAD_USAGE,
                        std::string(name) + " × serving.devices: the memory exceeds 2^63 bytes");
  return each * devices;
}

CacheBytes Serving::caches() const {
  std::string sizes = "serving.context × serving.sequences";
  try {
    auto out = caches(request_.load);
    sizes += " × serving.own-reads";
    out.read_by_step();
    return out;
  } catch (const tmeter::Error&) {
    throw tmeter::Error(TMETER_BAD_USAGE, sizes + ": the caches exceed 2^63 bytes");
  }
}

Count Serving::token_bytes() const {
  const auto& type = request_.load.cache;
  Count sum = 0;
  for (const auto& l : layers_)
    if (l.kind == CacheKind::kFull || l.kind == CacheKind::kLatent)
      sum += Count(l.elements_per_token()) * type.bytes / type.elements;
  return sum;
}

int64_t Serving::largest_of(int64_t Load::*size, Load load, Count memory) const {
  return largest(1, kMaxSearched, [&](int64_t n) {
    load.*size = n;
    return fits(load, memory);
  });
}

bool Serving::fits(const Load& load, Count memory) const {
  try {
    const auto bytes = caches(load);
    return bytes.unavailable.empty() && weights_ + bytes.all() <= memory;
  } catch (const tmeter::Error&) {
    return false;
  }
}

std::optional<int64_t> Serving::min_devices(Count each) const {
  auto load = request_.load;
  for (load.devices = 1; load.devices <= kMaxDevices; ++load.devices) {
    const bool is_countable = each.value() <= std::numeric_limits<int64_t>::max() / load.devices;
    if (fits(load, is_countable ? each * load.devices : std::numeric_limits<int64_t>::max()))
      return load.devices;
  }
  return std::nullopt;
}

int64_t Serving::longest_context(const Load& load, Count memory) const {
  return largest_of(&Load::context, load, memory);
}

int64_t Serving::max_sequences(const Load& load, Count memory) const {
  return largest_of(&Load::sequences, load, memory);
}

}  // namespace serving
