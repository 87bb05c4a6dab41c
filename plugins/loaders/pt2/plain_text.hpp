// JSON read as it stands, without a document: of what is as torch writes it (ASCII, no unusual
// escapes, no key twice) each value is found in one go. Whatever else there is, right or wrong, is
// refused without a word: then simdjson reads it and says what is the matter. So nothing is
// accepted here that is refused there.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace pt2 {

class PlainText {
 public:
  /// 64 bytes behind `text` are readable.
  explicit PlainText(std::string_view text) : at_(text.data()), end_(at_ + text.size()) { space(); }

  bool is_done() const { return at_ == end_; }
  const char* at() const { return at_; }
  void go_to(const char* at) { at_ = at; }

  // Each takes what it is named after and the space behind it, or leaves the text anywhere and is
  // false.
  bool take(char c) {
    if (at_ >= end_ || *at_ != c) return false;
    ++at_;
    space();
    return true;
  }
  /// A text without escapes.
  bool text(std::string_view& out) {
    bool escapes = false;
    return any_text(out, escapes) && !escapes;
  }
  /// A text as it stands, with its escapes.
  bool escaped(std::string_view& out) {
    bool escapes = false;
    return any_text(out, escapes);
  }
  /// What stands there to the letter, with its spaces and nothing behind it.
  template <size_t N>
  bool exactly(const char (&expected)[N]) {
    if (static_cast<size_t>(end_ - at_) < N - 1 || __builtin_memcmp(at_, expected, N - 1) != 0)
      return false;
    at_ += N - 1;
    return true;
  }
  /// A number of one to eighteen digits, and nothing behind it.
  bool digits(int64_t& out) {
    const char* const first = at_;
    int64_t value = 0;
    while (at_ < end_ && *at_ >= '0' && *at_ <= '9' && at_ - first < 18)
      value = value * 10 + (*at_++ - '0');
    out = value;
    return at_ != first && (*first != '0' || at_ - first == 1);
  }
  bool key(std::string_view& out) { return text(out) && take(':'); }
  bool integer(int64_t& out);
  /// Infinity and NaN, too, which Python writes so.
  bool real(double& out);
  bool boolean(bool& out);
  /// A value of any kind.
  bool skip(int depth = 0);

  /// A list: `item` reads each.
  template <class Item>
  bool list(Item&& item) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!item()) return false;
    } while (take(','));
    return take(']');
  }
  /// An object: `member` reads what stands behind the key it is given, and knows whether it was
  /// there before.
  template <class Member>
  bool object(Member&& member) {
    if (!take('{')) return false;
    if (take('}')) return true;
    std::string_view name;
    do {
      if (!key(name) || !member(name)) return false;
    } while (take(','));
    return take('}');
  }

 private:
  void space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool any_text(std::string_view& out, bool& escapes);
  bool word(std::string_view expected);
  const char* number_end() const;

  const char *at_, *end_;
};

/// The keys of one object.
class SeenKeys {
 public:
  /// False when it was there before, or when there are too many to tell.
  bool add(std::string_view key) {
    for (size_t i = 0; i < count_; ++i)
      if (seen_[i] == key) return false;
    if (count_ == seen_.size()) return false;
    seen_[count_++] = key;
    return true;
  }
  size_t count() const { return count_; }

 private:
  std::array<std::string_view, 16> seen_;
  size_t count_ = 0;
};

/// Of a text that `PlainText::escaped` gave.
void unescape(std::string_view text, std::string& out);

}  // namespace pt2
