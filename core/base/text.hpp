// Small text helpers: splitting, globs, shapes, and did_you_mean() of the SDK.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tmeter/cpp/nearest.hpp>
#include <vector>

namespace tmeter::core {

/// Changes only ASCII letters.
std::string lower_case(std::string text);

/// Non-empty parts of `text` between any of the `separators`.
std::vector<std::string> split(std::string_view text, std::string_view separators);

/// "flops, memory"
std::string joined(const std::vector<std::string>& items);

/// `*` matches anything, also '/'; `?` one character.
bool glob_match(std::string_view pattern, std::string_view text);

/// "\x50\x4b" of "504b"; nothing unless the text is pairs of the digits 0 to 9 and a to f.
std::optional<std::string> bytes_of_hex(std::string_view hex);

/// "[1, 3, 224, 224]"
std::string shape_text(std::span<const int64_t> dims);

/// Makes text from a file safe for one line of a terminal: control characters (C0, C1,
/// bidirectional ones) and broken UTF-8 are spelled out, as in "\x1b", "\n" and "\u202e". Cut after
/// `limit` bytes.
std::string visible(std::string_view text, size_t limit);

/// The same for a name inside a message.
inline std::string printable(std::string_view text, size_t limit = 200) {
  return visible(text, limit);
}

/// Makes a report safe for a terminal like `visible`, but line ends, tabs and colours ("\x1b[…m")
/// stay.
std::string terminal_safe(std::string_view text);

/// Length of the prefix of `text` that can be shown now: without an incomplete character or
/// colour at its end.
size_t complete_prefix_length(std::string_view text);

}  // namespace tmeter::core
