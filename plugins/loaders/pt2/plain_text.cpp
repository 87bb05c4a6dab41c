#include "plain_text.hpp"

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace pt2 {
namespace {

constexpr int kDeepest = 64;

bool in_number(char c) { return c >= '0' && c <= '9'; }

/// The character that stands for an escape of one letter; 0: there is none such.
char escape_of(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

/// The first quote, escape, control character or what is no ASCII (negative); up to 15 bytes behind
/// the end are looked at, too.
const char* find_special(const char* at, const char* end) {
#ifdef __SSE2__
  for (; at < end; at += 16) {
    const auto bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const auto escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const auto others = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    const auto found = static_cast<unsigned>(
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, escapes), others)));
    if (found != 0) return at + std::countr_zero(found);
  }
  return end;
#else
  while (at < end && *at != '"' && *at != '\\' && static_cast<signed char>(*at) >= 0x20) ++at;
  return at;
#endif
}

}  // namespace

bool PlainText::any_text(std::string_view& out, bool& escapes) {
  if (at_ >= end_ || *at_ != '"') return false;
  const char* const begin = ++at_;
  for (;;) {
    at_ = find_special(at_, end_);
    if (at_ >= end_) return false;
    if (*at_ == '"') break;
    if (*at_ != '\\' || at_ + 1 >= end_ || !escape_of(at_[1])) return false;
    escapes = true;
    at_ += 2;
  }
  out = {begin, static_cast<size_t>(at_ - begin)};
  ++at_;
  space();
  return true;
}

bool PlainText::word(std::string_view expected) {
  if (static_cast<size_t>(end_ - at_) < expected.size() ||
      std::memcmp(at_, expected.data(), expected.size()) != 0)
    return false;
  at_ += expected.size();
  space();
  return true;
}

/// What is larger may be no number of 64 bits.
bool PlainText::integer(int64_t& out) {
  constexpr int kDigits = 18;
  const bool negative = at_ < end_ && *at_ == '-';
  const char* p = at_ + negative;
  const char* const first = p;
  int64_t value = 0;
  for (; p < end_ && in_number(*p); ++p) {
    if (p - first == kDigits) return false;
    value = value * 10 + (*p - '0');
  }
  if (p == first || (*first == '0' && (p - first > 1 || negative))) return false;
  if (p < end_ && (*p == '.' || *p == 'e' || *p == 'E')) return false;
  out = negative ? -value : value;
  at_ = p;
  space();
  return true;
}

/// Where the number ends that begins here, by the grammar of JSON; null: there is none.
const char* PlainText::number_end() const {
  const char* p = at_;
  const auto digits = [&] {
    const char* const first = p;
    while (p < end_ && in_number(*p)) ++p;
    return p != first;
  };
  if (p < end_ && *p == '-') ++p;
  const char* const first = p;
  if (!digits() || (*first == '0' && p - first > 1)) return nullptr;
  if (p < end_ && *p == '.' && (++p, !digits())) return nullptr;
  if (p < end_ && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p < end_ && (*p == '+' || *p == '-')) ++p;
    if (!digits()) return nullptr;
  }
  return p;
}

bool PlainText::real(double& out) {
  int64_t whole = 0;
  const char* const begin = at_;
  if (integer(whole)) {
    out = static_cast<double>(whole);
    return true;
  }
  at_ = begin;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (word("Infinity")) return out = kInfinity, true;
  if (word("-Infinity")) return out = -kInfinity, true;
  if (word("NaN")) return out = std::numeric_limits<double>::quiet_NaN(), true;
  const char* const end = number_end();
  if (!end || std::string_view(at_, static_cast<size_t>(end - at_)).find_first_of(".eE") ==
                  std::string_view::npos)
    return false;
  const auto [stop, error] = std::from_chars(at_, end, out);
  if (error != std::errc() || stop != end) return false;
  at_ = end;
  space();
  return true;
}

bool PlainText::boolean(bool& out) {
  out = word("true");
  return out || word("false");
}

bool PlainText::skip(int depth) {
  if (depth > kDeepest || at_ >= end_) return false;
  std::string_view ignored;
  int64_t number = 0;
  double real_number = 0;
  SeenKeys keys;
  switch (*at_) {
    case '"':
      return escaped(ignored);
    case '{':
      return object([&](std::string_view name) { return keys.add(name) && skip(depth + 1); });
    case '[':
      return list([&] { return skip(depth + 1); });
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    case 'I':
    case 'N':
      return false;
    default: {
      const char* const begin = at_;
      if (integer(number)) return true;
      at_ = begin;
      return !word("-Infinity") && real(real_number);
    }
  }
}

void unescape(std::string_view text, std::string& out) {
  out.clear();
  for (size_t at = 0; at < text.size();) {
    const size_t escape = std::min(text.find('\\', at), text.size());
    out.append(text, at, escape - at);
    if (escape == text.size()) return;
    out += escape_of(text[escape + 1]);
    at = escape + 2;
  }
}

}  // namespace pt2
