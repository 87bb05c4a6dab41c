// What is wrong with a model file, told from the inside out. Used by all loaders of tmeter.
//
// Whoever finds the fault says what it is; every level above adds where, by running its part in
// `within`. The plugin's outermost function turns it into a tmeter::Error. Needs no host.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/utf8.hpp"

namespace loading {

using tmeter::core::is_utf8;

class BadFile : public std::runtime_error {
 public:
  explicit BadFile(const std::string& what, std::string advice = {})
      : std::runtime_error(what), advice_(std::move(advice)) {}
  /// What the user can do about it; empty when the usual advice (export again) fits.
  const std::string& advice() const { return advice_; }

 private:
  std::string advice_;
};

/// Text from the file as it may stand in a message: cut short, what is no printable character
/// replaced.
inline std::string shown(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string out;
  size_t at = 0;
  while (at < text.size() && at < kLongest) {
    const auto [code, bytes] = tmeter::core::decode_utf8(text.substr(at));
    const bool printable = code != tmeter::core::kInvalidUtf8 && !tmeter::core::is_control(code);
    out += printable ? text.substr(at, bytes) : "?";
    at += bytes;
  }
  return at < text.size() ? out + "…" : out;
}

inline std::string in_quotes(std::string_view text) { return "'" + shown(text) + "'"; }

/// A message with a place in front; of what is nested very deep the middle is left out.
inline std::string with_place(const std::string& place, std::string what) {
  constexpr size_t kLongest = 500, kHead = 120, kTail = 300;
  what = place + ": " + what;
  if (what.size() <= kLongest) return what;
  const auto in_character = [&](size_t i) {
    return (static_cast<unsigned char>(what[i]) & 0xc0) == 0x80;
  };
  size_t head = kHead, tail = what.size() - kTail;
  while (in_character(head)) --head;
  while (in_character(tail)) --tail;
  return what.substr(0, head) + " … " + what.substr(tail);
}

/// Runs `body`; a BadFile leaving it gets `place()` in front ("node 12 'conv2d'"). The text is only
/// made when something is wrong.
template <class Place, class Body>
decltype(auto) within(Place&& place, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const BadFile& e) {
    throw BadFile(with_place(std::string(place()), e.what()), e.advice());
  }
}

}  // namespace loading
