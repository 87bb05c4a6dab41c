// "100ms", "0.5s", "2min": a time as the user writes it.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(hidden)
namespace system_load {

/// Nanoseconds; empty for what is no time, or is shorter than 10 ms or longer than an hour.
std::optional<uint64_t> interval_of(std::string_view text);

}  // namespace system_load
#pragma GCC visibility pop
