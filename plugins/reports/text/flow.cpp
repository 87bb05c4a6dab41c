#include "flow.hpp"

#include <algorithm>

namespace text_report {
namespace {

// What stands between spaces, across changes of style.
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
  bool fresh = true;  // nothing but the indent on the current line
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

}  // namespace text_report
