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

#include "utf8.hpp"

namespace loading {

class BadFile : public std::runtime_error {
 public:
  explicit BadFile(const std::string& what, std::string advice = {})
      : std::runtime_error(what), advice_(std::move(advice)) {}
  /// What the user can do about it; empty when the usual advice (export again) fits.
  const std::string& advice() const { return advice_; }

 private:
  std::string advice_;
};

/// Text from the file as it may stand in a message: quoted, cut short, control characters and
/// broken UTF-8 replaced.
inline std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  // Not through the middle of a UTF-8 sequence.
  if (text.size() > kLongest) {
    while (out.size() > 1 && (static_cast<unsigned char>(text[out.size() - 1]) & 0xc0) == 0x80)
      out.pop_back();
  }
  if (!is_utf8(out))
    std::replace_if(
        out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  if (text.size() > kLongest) out += "…";
  return out + "'";
}

/// A message with a place in front; of what is nested very deep the middle is left out.
inline std::string with_place(const std::string& place, std::string what) {
  constexpr size_t kLongest = 500, kHead = 120, kTail = 300;
  what = place + ": " + what;
  if (what.size() <= kLongest) return what;
  return what.substr(0, kHead) + " … " + what.substr(what.size() - kTail);
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
