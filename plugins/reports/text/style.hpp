// Styled text: pieces with a meaning, turned into ANSI colours only at the very end.
//
// The 16 basic colours alone are used, so that the user's own palette decides how they look on a
// dark or a light ground.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace text_report {

enum class Style {
  kPlain,
  kStrong,  // the model, totals
  kQuiet,   // ids, tree lines, units, zeros, explanations
  kType,    // module types
  kBar,
  kGood,
  kWarning,  // unknown figures, warnings
};

struct Piece {
  std::string text;  // printable
  Style style = Style::kPlain;
};

/// One line, or a part of one.
class Text {
 public:
  Text() = default;
  /// `text` may come from a model file: it is made printable.
  Text(std::string_view text, Style style = Style::kPlain) { add(text, style); }  // NOLINT
  Text(const char* text) : Text(std::string_view(text)) {}                        // NOLINT

  Text& add(std::string_view text, Style style = Style::kPlain);
  Text& append(const Text& other);
  /// Spaces up to `width` columns.
  Text& pad_to(size_t width);

  const std::vector<Piece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  size_t width() const { return width_; }
  /// The first `width` columns; "…" at the end when something is cut.
  Text cut(size_t width) const;

 private:
  std::vector<Piece> pieces_;
  size_t width_ = 0;
};

/// Without trailing spaces, with a line end.
std::string render(const Text& line, bool color);

}  // namespace text_report
