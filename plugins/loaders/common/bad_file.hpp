// BadFile: a fault of a model file, thrown by all loaders of tmeter.
//
// The innermost function names the fault. Each level above runs its part in `within`, which adds
// the place. The plugin's outermost function turns the exception into a tmeter::Error. Needs no
// host.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tmeter/cpp/utf8.hpp>
#include <utility>
#include <vector>

namespace loading {

using tmeter::is_utf8;

class BadFile : public std::runtime_error {
 public:
  explicit BadFile(const std::string& what, std::string advice = {})
      : std::runtime_error(what), advice_(std::move(advice)) {}
  /// Advice for the user; empty if the usual one (export again) fits.
  const std::string& advice() const { return advice_; }

 private:
  std::string advice_;
};

/// Text from the file for a message: shortened, with unprintable characters replaced.
inline std::string shown(std::string_view text) {
  constexpr size_t kMaxShownBytes = 80;
  std::string out;
  size_t at = 0;
  while (at < text.size() && at < kMaxShownBytes) {
    const auto [code, bytes] = tmeter::decode_utf8(text.substr(at));
    const bool printable = code != tmeter::kInvalidUtf8 && !tmeter::is_control(code);
    out += printable ? text.substr(at, bytes) : "?";
    at += bytes;
  }
  return at < text.size() ? out + "…" : out;
}

inline std::string in_quotes(std::string_view text) { return "'" + shown(text) + "'"; }

/// "a, b, c and 7 more"
inline std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMaxListedNames = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxListedNames); ++i)
    text += (i == 0 ? "" : ", ") + shown(names[i]);
  if (names.size() > kMaxListedNames)
    text += " and " + std::to_string(names.size() - kMaxListedNames) + " more";
  return text;
}

/// A message prefixed with its place. The middle of a very long one is left out.
inline std::string with_place(const std::string& place, std::string what) {
  constexpr size_t kMaxMessageBytes = 500, kHead = 120, kTail = 300;
  what = place + ": " + what;
  if (what.size() <= kMaxMessageBytes) return what;
  const auto in_character = [&](size_t i) {
    return (static_cast<unsigned char>(what[i]) & 0xc0) == 0x80;
  };
  size_t head = kHead, tail = what.size() - kTail;
  while (in_character(head)) --head;
  while (in_character(tail)) --tail;
  return what.substr(0, head) + " … " + what.substr(tail);
}

/// Runs `body` and prefixes a BadFile that it throws with `place()` ("node 12 'conv2d'").
/// `place` is called only then.
template <class Place, class Body>
decltype(auto) within(Place&& place, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const BadFile& e) {
    throw BadFile(with_place(std::string(place()), e.what()), e.advice());
  }
}

}  // namespace loading
