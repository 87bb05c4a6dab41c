#include <algorithm>
#include <utility>

#include "look.hpp"

namespace text_report {

namespace {

// A word between spaces, which may change its style.
std::vector<Text> words_of(const Text& text) {
  std::vector<Text> words;
  bool open = false;
  for (const auto& piece : text.pieces()) {
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      const size_t at = rest.find(' ');
      if (at != 0) {
        if (!open) words.emplace_back();
        words.back().add(rest.substr(0, at), piece.style);
      }
      open = at == std::string_view::npos;
      rest = open ? std::string_view() : rest.substr(at + 1);
    }
  }
  return words;
}

}  // namespace

std::vector<Text> flow(const Text& text, size_t width, size_t indent) {
  std::vector<Text> lines(1);
  bool fresh = true;  // only the indent is on the current line
  for (const auto& word : words_of(text)) {
    if (width && !fresh && lines.back().width() + 1 + word.width() > width) {
      lines.emplace_back().pad_to(indent);
      fresh = true;
    }
    Text& line = lines.back();
    if (!fresh) {
      const auto& style = word.pieces().front().style;
      line.add(" ", line.pieces().back().style == style ? style : Style::kPlain);
    }
    line.append(width ? word.cut(width - std::min(width, line.width())) : word);
    fresh = false;
  }
  return lines;
}

std::vector<Text> flow_items(const std::vector<Text>& items, size_t width, size_t indent) {
  static constexpr std::string_view kSeparator = " · ";
  std::vector<Text> lines;
  for (const auto& item : items) {
    const bool first = lines.empty();
    if (!first && (!width || lines.back().width() + 3 + item.width() <= width)) {
      lines.back().add(kSeparator, Style::kQuiet).append(item);
      continue;
    }
    Text& line = lines.emplace_back();
    if (!first) line.pad_to(indent);
    line.append(item);
  }
  if (width)
    for (auto& line : lines) line = line.cut(width);
  return lines;
}

namespace {

/// Puts pieces of text into lines, the last of which may still grow.
class Wrapper {
 public:
  explicit Wrapper(size_t width) : width_(width) {}

  /// Appends a word, or spaces. Spaces are held back for the next word and dropped at the end of a
  /// line.
  void add(std::string_view word, const Style& style) {
    if (word.front() == ' ') {
      spaces_.add(word, style);
      return;
    }
    const auto width = display_width(word);
    if (lines_.back().width() + spaces_.width() + width > width_) {
      if (!lines_.back().empty() && (spaces_.width() > 0 || width <= width_)) lines_.emplace_back();
      spaces_ = {};
    }
    lines_.back().append(std::exchange(spaces_, {}));
    split(word, style);
  }
  std::vector<Text> take() { return std::move(lines_); }

 private:
  void split(std::string_view word, const Style& style) {
    while (!word.empty()) {
      const auto room = width_ - std::min(width_, lines_.back().width());
      auto part = first_columns(word, room);
      if (part.empty() && lines_.back().empty())
        part = word.substr(0, plugins::decode_utf8(word).bytes);
      lines_.back().add(part, style);
      word.remove_prefix(part.size());
      if (!word.empty()) lines_.emplace_back();
    }
  }
  size_t width_;
  Text spaces_;
  std::vector<Text> lines_{1};
};

}  // namespace

std::vector<Text> wrap(const Text& text, size_t width) {
  if (width == 0 || text.width() <= width) return {text};
  Wrapper lines(width);
  for (const auto& piece : text.pieces()) {
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      const bool space = rest.front() == ' ';
      const auto end = space ? rest.find_first_not_of(' ') : rest.find(' ');
      lines.add(rest.substr(0, end), piece.style);
      rest.remove_prefix(std::min(end, rest.size()));
    }
  }
  return lines.take();
}

std::vector<Text> fitted(const Text& text, size_t width, Overflow overflow, bool no_wrap) {
  if (text.width() <= width) return {text};
  if (overflow == Overflow::kFold && !no_wrap) return wrap(text, width);
  if (overflow == Overflow::kAuto || overflow == Overflow::kEllipsis) return {text.cut(width)};
  return {text.crop(width)};
}

Text aligned(const Text& text, size_t width, Justify justify) {
  const auto spare = width - std::min(width, text.width());
  const auto before = justify == Justify::kRight    ? spare
                      : justify == Justify::kCenter ? spare / 2
                                                    : 0;
  return before ? Text().pad_to(before).append(text) : text;
}

}  // namespace text_report
