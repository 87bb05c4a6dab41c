#include "apps/tmeter/budget_formats.hpp"

namespace tmeter::app {
namespace {

/// `text` with `escape` of each character that `special` names.
std::string replaced(std::string_view text, std::string_view special, std::string (*escape)(char)) {
  std::string out;
  for (const char c : text) out += special.find(c) != special.npos ? escape(c) : std::string(1, c);
  return out;
}

std::string percent_encoded(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'%', kDigits[byte >> 4], kDigits[byte & 15]};
}

std::string character_reference(char c) { return "&#" + std::to_string(int{c}) + ";"; }

std::string as_text(const std::vector<BudgetRow>& rows) {
  constexpr std::string_view kMarks[] = {"ok    ", "FAIL  ", "ERROR "};
  std::string out;
  for (const auto& r : rows) {
    out += std::string(kMarks[r.state]) + r.model + "  " +
           (r.bound.empty() ? r.words : r.bound + "  (" + r.words + ")") + "\n";
    if (!r.why.empty()) out += "        " + r.why + "\n";
  }
  return out;
}

/// Annotations of a GitHub workflow at the budget's line, for broken and unchecked bounds.
std::string as_github(const std::vector<BudgetRow>& rows, std::string_view file) {
  std::string out;
  const auto data = [](std::string_view text) { return replaced(text, "%\n\r", percent_encoded); };
  const auto property = [](std::string_view text) {
    return replaced(text, "%\n\r:,", percent_encoded);
  };
  for (const auto& r : rows) {
    if (r.state == BudgetRow::kHolds) continue;
    out += "::error file=" + property(file) + ",line=" + std::to_string(r.line) +
           ",title=" + property(r.model) + "::" +
           data((r.bound.empty() ? "" : r.bound + ": ") + r.words +
                (r.why.empty() ? "" : "; " + r.why)) +
           "\n";
  }
  return out;
}

/// A table for a step's summary or a comment.
std::string as_markdown(const std::vector<BudgetRow>& rows) {
  constexpr std::string_view kMarks[] = {"✅", "❌", "⚠️"};
  const auto cell = [](std::string_view text) {
    return replaced(text, "|`<>[]*_@#&", character_reference);
  };
  std::string out = "| | model | bound | |\n|---|---|---|---|\n";
  for (const auto& r : rows)
    out += "| " + std::string(kMarks[r.state]) + " | " + cell(r.model) + " | " + cell(r.bound) +
           " | " + cell(r.words + (r.why.empty() ? "" : "; " + r.why)) + " |\n";
  return out;
}

}  // namespace

std::string in_format(std::string_view format, const std::vector<BudgetRow>& rows,
                      std::string_view file) {
  if (format == kGithub) return as_github(rows, file);
  return format == kMarkdown ? as_markdown(rows) : as_text(rows);
}

}  // namespace tmeter::app
