// Styled text: pieces with a meaning, turned into ANSI colours only when a line is rendered; the
// width of text on a terminal, and cutting it.
//
// By default a report uses the 16 basic colours only, so that the user's palette decides how they
// look on a dark or a light background. A configuration may set any other colour.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/common/utf8.hpp"

namespace text_report {

/// The meaning of a piece; the theme maps it to a style.
enum class Role : uint8_t {
  kPlain,
  kStrong,  // the model, totals
  kQuiet,   // ids, tree lines, units, zeros, explanations
  kType,    // module types
  kBar,
  kGood,
  kWarning,  // unknown values, warnings
  kNumber,   // with highlight: numbers, quoted strings, words such as True
  kQuoted,
  kWord,
};
inline constexpr size_t kRoles = 10;

/// A colour: none, the terminal's own, one of a palette of 256, or red, green, blue.
struct Color {
  enum class Kind : uint8_t { kNone, kOwn, kPalette, kRgb } kind = Kind::kNone;
  std::array<uint8_t, 3> value{};
  bool operator==(const Color&) const = default;
};

/// Attributes of ECMA-48, as bits.
enum Attribute : uint8_t {
  kBold = 1,
  kDim = 2,
  kItalic = 4,
  kUnderline = 8,
  kBlink = 16,
  kReverse = 32,
  kStrike = 64,
};

struct Style {
  Role role = Role::kPlain;
  uint8_t on = 0, off = 0;  // Attribute bits to set, and to clear
  Color front{}, back{};
  bool operator==(const Style&) const = default;
  bool plain() const { return *this == Style{}; }

  static const Style kPlain, kStrong, kQuiet, kType, kBar, kGood, kWarning;
};
inline constexpr Style Style::kPlain{};
inline constexpr Style Style::kStrong{Role::kStrong};
inline constexpr Style Style::kQuiet{Role::kQuiet};
inline constexpr Style Style::kType{Role::kType};
inline constexpr Style Style::kBar{Role::kBar};
inline constexpr Style Style::kGood{Role::kGood};
inline constexpr Style Style::kWarning{Role::kWarning};

/// The style of each role; these styles have no role themselves.
using Theme = std::array<Style, kRoles>;
const Theme& default_theme();

/// `top` over `base`, with roles replaced by their styles.
Style over(Style base, Style top, const Theme& theme);

struct Piece {
  std::string text;  // printable
  Style style = Style::kPlain;
};

/// One line, or a part of a line.
class Text {
 public:
  Text() = default;
  /// Makes `text` printable, because it may come from a model file.
  Text(std::string_view text, Style style = Style::kPlain) { add(text, style); }  // NOLINT
  Text(const char* text) : Text(std::string_view(text)) {}                        // NOLINT

  Text& add(std::string_view text, Style style = Style::kPlain);
  Text& append(const Text& other);
  /// Spaces up to `width` columns.
  Text& pad_to(size_t width, Style style = Style::kPlain);

  const std::vector<Piece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  size_t width() const { return width_; }
  /// The first `width` columns; "…" at the end when something is cut.
  Text cut(size_t width) const;
  /// The first `width` columns.
  Text crop(size_t width) const;
  /// The same text with its styles over `base`.
  Text on(Style base, const Theme& theme) const;

 private:
  void add_safe(std::string text, size_t width, Style style);
  std::vector<Piece> pieces_;
  size_t width_ = 0;
};

/// The capabilities of the output.
struct Rendering {
  bool color = false;
  bool ascii = false;  // replaces other characters by ASCII of the same width
  const Theme* theme = &default_theme();
};

/// The line without invisible trailing spaces, with a line end.
std::string render(const Text& line, const Rendering& how);
inline std::string render(const Text& line, bool color) { return render(line, Rendering{color}); }

// Width of text on a terminal, and cutting it.

using plugins::printable;

/// Columns of a terminal that `text` (printable) takes: 2 for wide East Asian characters and emoji,
/// 0 for combining marks.
size_t display_width(std::string_view text);

/// The whole characters that fit into `width` columns.
std::string_view first_columns(std::string_view text, size_t width);

/// At most `width` columns; the part cut off at the end (or start) is replaced by "…".
std::string cut_end(std::string_view text, size_t width);
std::string cut_start(std::string_view text, size_t width);

// For terminals and logs that can show ASCII only.

/// Appends `text` (printable) as ASCII, as many columns wide: "├─ 3 × …" becomes "+- 3 x .". An
/// ellipsis that leads a sentence becomes "...".
void add_ascii(std::string_view text, std::string& out);

}  // namespace text_report
