#include "style.hpp"

#include <array>

#include "utf8.hpp"

namespace text_report {
namespace {

// ECMA-48 SGR parameters by Style; empty: as it is.
constexpr std::array<std::string_view, 7> kCodes{"", "1", "2", "36", "34", "32", "33"};

std::string_view code_of(Style style) { return kCodes[static_cast<size_t>(style)]; }

}  // namespace

Text& Text::add(std::string_view text, Style style) {
  if (text.empty()) return *this;
  std::string safe = printable(text);
  width_ += display_width(safe);
  if (!pieces_.empty() && pieces_.back().style == style)
    pieces_.back().text += safe;
  else
    pieces_.push_back({std::move(safe), style});
  return *this;
}

Text& Text::append(const Text& other) {
  for (const auto& piece : other.pieces_) add(piece.text, piece.style);
  return *this;
}

Text& Text::pad_to(size_t width) {
  if (width_ < width) add(std::string(width - width_, ' '));
  return *this;
}

Text Text::cut(size_t width) const {
  if (width_ <= width) return *this;
  Text out;
  for (const auto& piece : pieces_) {
    const size_t left = width - out.width();
    // The last piece that fits in full gives up a column for the ellipsis.
    const bool whole = display_width(piece.text) < left;
    out.add(whole ? piece.text : cut_end(piece.text + " ", left), piece.style);
    if (!whole) break;
  }
  return out;
}

std::string render(const Text& line, bool color) {
  auto pieces = line.pieces();
  while (!pieces.empty()) {
    auto& text = pieces.back().text;
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) break;
    pieces.pop_back();
  }
  std::string out;
  for (const auto& piece : pieces) {
    const auto code = color ? code_of(piece.style) : std::string_view();
    if (code.empty())
      out += piece.text;
    else
      out.append("\x1b[").append(code).append("m").append(piece.text).append("\x1b[0m");
  }
  return out += '\n';
}

}  // namespace text_report
