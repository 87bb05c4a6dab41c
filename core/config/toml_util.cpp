#include "core/config/toml_util.hpp"

#include <string_view>
#include <vector>

#include "core/base/small_file.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// Maximum nesting of tables. toml++ builds and destroys nested tables recursively, and has no
/// limit for dotted keys.
constexpr size_t kMaxLevels = 64;

/// Counts the levels without making tables. It follows TOML exactly. In a malformed text it counts
/// the levels up to the mistake, where toml++ stops, too.
class Levels {
 public:
  explicit Levels(std::string_view text) : rest_(text) {}

  /// The line of the first value or key that is too deep, or 0.
  size_t first_line_too_deep() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '"' || c == '\'') {
        skip_text(c);
        continue;
      }
      rest_.remove_prefix(1);
      if (c == '#') skip_comment();
      if (c == '\n') ++line_;
      if (c == '.') ++dots_.back(), ++depth_;
      if (c == '[' || c == '{') dots_.push_back(0), ++depth_;
      if ((c == ']' || c == '}') && dots_.size() > 1) leave_brackets();
      if (c == '\n' || c == ',') forget_key();
      if (depth_ > kMaxLevels) return line_;
    }
    return 0;
  }

 private:
  /// A key ends with its line or at a comma.
  void forget_key() { depth_ -= dots_.back(), dots_.back() = 0; }
  void leave_brackets() {
    forget_key();
    dots_.pop_back();
    --depth_;
  }
  void skip_comment() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }
  /// Skips a string with one quote or three. A string with one quote ends at the end of the line at
  /// the latest.
  void skip_text(char quote) {
    const std::string three(3, quote);
    const bool long_text = rest_.starts_with(three);
    rest_.remove_prefix(long_text ? 3 : 1);
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (!long_text && c == '\n') return;
      if (long_text && rest_.starts_with(three)) return end_long_text(quote);
      rest_.remove_prefix(1);
      if (c == '\n') ++line_;
      if (c == quote && !long_text) return;
      if (c == '\\' && quote == '"' && !rest_.empty() && rest_.front() != '\n')
        rest_.remove_prefix(1);
    }
  }
  /// One or two quotes may precede the three that end it.
  void end_long_text(char quote) {
    for (int quotes = 0; quotes < 5 && rest_.starts_with(quote); ++quotes) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  size_t line_ = 1, depth_ = 0;
  std::vector<size_t> dots_{0};  // per bracket level: dots in the current key
};

}  // namespace

void toml_error(ErrorKind kind, const std::string& path, const toml::source_region& where,
                const std::string& what) {
  throw Error(kind, path + ":" + std::to_string(where.begin.line) + ":" +
                        std::to_string(where.begin.column) + ": " + what);
}

toml::table parse_toml(ErrorKind kind, std::string_view text, const std::string& path) {
  if (text.size() > kMaxTomlBytes)
    throw Error(
        kind, path + ": is longer than " + std::to_string(kMaxTomlBytes >> 10) + " KiB, the limit");
  if (const auto line = Levels(text).first_line_too_deep(); line > 0)
    throw Error(kind, path + ":" + std::to_string(line) +
                          ": tables and lists are nested more than " + std::to_string(kMaxLevels) +
                          " deep");
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& e) {
    toml_error(kind, path, e.source(), printable(e.description()));
  }
}

toml::table parse_toml_file(ErrorKind kind, const std::string& path) {
  return parse_toml(kind, read_small_file(kind, path, kMaxTomlBytes), path);
}

}  // namespace tmeter::core
