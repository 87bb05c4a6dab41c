#include "markup.hpp"

#include <algorithm>

#include "plugins/common/utf8.hpp"

namespace markdown_report {
namespace {

// The ASCII punctuation with a meaning inside a line, which a backslash escapes (CommonMark 2.4).
// Names never start a line, where more characters have one.
constexpr std::string_view kBackslashed = "\\`*_[]#|~$";
constexpr std::string_view kAddress = "@:";  // mentions, emoji, bare links: as entities

std::string entity(char c) { return "&#" + std::to_string(static_cast<int>(c)) + ";"; }

// GitHub turns "www." into a link, even without an address before it.
bool ends_with_www(std::string_view text) {
  const auto end = text.substr(text.size() < 3 ? 0 : text.size() - 3);
  return end.size() == 3 &&
         std::all_of(end.begin(), end.end(), [](char c) { return c == 'w' || c == 'W'; });
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : plugins::readable(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (kAddress.find(c) != kAddress.npos || (c == '.' && ends_with_www(out)))
      out += entity(c);
    else if (kBackslashed.find(c) != kBackslashed.npos)
      out.append(1, '\\').append(1, c);
    else
      out += c;
  }
  return out;
}

std::string code(std::string_view text) {
  const auto name = plugins::readable(text);
  if (name.empty()) return {};
  // GitHub splits a row at every '|', even inside code; and a name of backticks needs a longer
  // fence. Neither occurs in a real model: such names are written as text.
  const bool plain =
      name.find_first_of("|`\\") == name.npos && name.front() != ' ' && name.back() != ' ';
  return plain ? "`" + name + "`" : escaped(name);
}

namespace {

void write_row(const std::vector<std::string>& cells, reports::Buffer& out) {
  out << "|";
  for (const auto& cell : cells) out << " " << cell << " |";
  out << "\n";
}

}  // namespace

void write_table(const Table& table, reports::Buffer& out) {
  write_row(table.titles, out);
  std::vector<std::string> rule;
  for (size_t i = 0; i < table.titles.size(); ++i)
    rule.emplace_back(i < table.words ? "---" : "---:");
  write_row(rule, out);
  for (const auto& row : table.rows) write_row(row, out);
  out << "\n";
}

// Without the empty lines, GitHub reads the Markdown inside as HTML.
void begin_details(std::string_view summary, reports::Buffer& out) {
  out << "<details>\n<summary>" << summary << "</summary>\n\n";
}

void end_details(reports::Buffer& out) { out << "</details>\n\n"; }

}  // namespace markdown_report
