// "100ms", "0.5s", "2min": a time as users write it.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(hidden)
namespace system_load {

/// Nanoseconds; empty if the text is not a time from 10 ms to one hour.
std::optional<uint64_t> interval_of(std::string_view text);

}  // namespace system_load
#pragma GCC visibility pop
