#include "plugins/common/serving/serving.hpp"

#include <limits>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/serving/largest.hpp"
#include "plugins/common/serving/sizes.hpp"
#include "plugins/common/utf8.hpp"

namespace serving {

using tmeter::Call;
using tmeter::Count;

std::string bytes_text(Count n) {
  return tmeter::scaled(static_cast<double>(n.value()), TMETER_UNIT_BYTE, "B").text();
}

std::optional<Count> memory_option(const Call& call, std::string_view key, std::string_view name) {
  const auto text = call.option_text(key);
  if (text.empty()) return std::nullopt;
  const auto bytes = bytes_of(text);
  if (bytes && *bytes > 0) return Count(*bytes);
  throw tmeter::Error(TMETER_BAD_USAGE, std::string(name) + "='" + plugins::readable(text) +
                                            "': a size above 0 is expected, as in 24GiB or 80GB");
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
  out.load = {call.option_int(key("context")), call.option_int(key("sequences")),
              call.option_int(key("batch")), *type};
  out.own_context = out.load.context == 0;
  if (out.own_context) out.load.context = recorded;
  const auto given = memory_option(call, key("memory"), "serving.memory");
  out.devices = call.option_int(key("devices"));
  const auto each = given ? *given : published_memory(call).value_or(0);
  if (each.value() > std::numeric_limits<int64_t>::max() / out.devices)
    throw tmeter::Error(TMETER_BAD_USAGE,
                        "serving.memory × serving.devices: the memory exceeds 2^63 bytes");
  out.memory = each * out.devices;
  return out;
}

CacheBytes Serving::caches() const {
  try {
    return caches(request_.load);
  } catch (const tmeter::Error&) {
    throw tmeter::Error(TMETER_BAD_USAGE,
                        "serving.context × serving.sequences: the caches exceed 2^63 bytes");
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

/// Sizes beyond 2^63 do not fit.
int64_t Serving::largest_of(int64_t Load::*size, Load load, Count memory) const {
  return largest(1, kLongest, [&](int64_t n) {
    load.*size = n;
    try {
      return all(load) <= memory;
    } catch (const tmeter::Error&) {
      return false;
    }
  });
}

int64_t Serving::longest_context(const Load& load, Count memory) const {
  return largest_of(&Load::context, load, memory);
}

int64_t Serving::most_sequences(const Load& load, Count memory) const {
  return largest_of(&Load::sequences, load, memory);
}

}  // namespace serving
