#include "writer.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "../common/buffer.hpp"
#include "../common/columns.hpp"
#include "../common/rows.hpp"
#include "plugins/common/utf8.hpp"

namespace csv_report {
namespace {

using tmeter::Metric;

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kSpecial = "\t\n\r\\", kLetters = "tnr\\";
  if (text.find_first_of(kSpecial) == text.npos) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto at = kSpecial.find(c);
    if (at == kSpecial.npos)
      out += c;
    else
      out.append(1, '\\').append(1, kLetters[at]);
  }
  return out;
}

// Characters that a spreadsheet ignores before a formula: spaces and characters without width.
constexpr std::string_view kInvisible[] = {
    " ",      "\u00a0", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005",
    "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u200b", "\u200c", "\u200d",
    "\u200e", "\u200f", "\u202f", "\u205f", "\u2060", "\u3000", "\ufeff"};
// The first characters of a formula in Excel, LibreOffice and Google Sheets; the last four are
// full-width, as in East Asian input.
constexpr std::string_view kFormula[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Skips characters that a spreadsheet may strip. Control characters stay: they count as the
// beginning of a formula.
std::string_view without_invisible(std::string_view text) {
  const auto leads = [&](std::string_view s) { return text.starts_with(s); };
  for (;;) {
    const auto* found = std::find_if(std::begin(kInvisible), std::end(kInvisible), leads);
    if (found == std::end(kInvisible)) return text;
    text.remove_prefix(found->size());
  }
}

// "-1.5e3", "+7": a number, not a formula.
bool is_decimal(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != text.npos) return false;
  double value = 0;
  const auto* end = text.data() + text.size();
  return text[0] != '+' && text[0] != '-' && std::from_chars(text.data(), end, value).ptr == end;
}

bool is_formula(std::string_view text) {
  if (is_decimal(text)) return false;
  text = without_invisible(text);
  if (text.empty()) return false;
  return is_control(text[0]) ||
         std::any_of(std::begin(kFormula), std::end(kFormula),
                     [&](std::string_view s) { return text.starts_with(s); });
}

std::string notes(const std::vector<Metric>& metrics, const std::vector<tmeter::Cell>& cells) {
  std::string out;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const auto status = reports::status_of(cells[i], metrics[i]);
    if (!status) continue;
    if (!out.empty()) out += "; ";
    out.append(metrics[i].id()).append(": ").append(*status);
  }
  return out;
}

// Empty if the sizes are those of the file, and for a sweep, whose rows have sizes of their own.
std::string_view sizes_of_rows(const tmeter::Report& report) {
  return report.sweep().symbols.len > 0 ? std::string_view() : report.property("sizes");
}

class Lines {
 public:
  Lines(tmeter::Output& out, const Options& options) : buffer_(out), options_(options) {}

  void put(std::string_view text) { put_field(field(text, options_)); }
  void put_field(std::string_view escaped_field) {
    if (!fresh_) buffer_ << (options_.format == Format::kCsv ? "," : "\t");
    fresh_ = false;
    buffer_ << escaped_field;
  }
  void end() {
    buffer_ << (options_.format == Format::kCsv ? "\r\n" : "\n");
    fresh_ = true;
  }
  void flush() { buffer_.flush(); }

 private:
  reports::Buffer buffer_;
  const Options& options_;
  bool fresh_ = true;
};

}  // namespace

std::string field(std::string_view text, const Options& options) {
  auto valid = plugins::repaired(text);
  if (options.guard_formulas && is_formula(valid)) valid.insert(0, 1, '\'');
  return options.format == Format::kCsv ? quoted(valid) : escaped(valid);
}

std::string cell_text(const tmeter::Cell& cell) {
  if (cell.empty() || cell.in_module()) return "";
  if (cell.is_unknown() || cell.is_unavailable()) return "n/a";
  return reports::plain_number(cell);
}

void write(const tmeter::Report& report, const Options& options, tmeter::Output& out) {
  const auto metrics = reports::chosen_metrics(report, [](const Metric&) { return true; });
  Lines lines(out, options);
  for (const auto& title : reports::row_titles(report)) lines.put(title);
  for (const auto& m : metrics) lines.put(m.id());
  const auto sizes = sizes_of_rows(report);
  if (!sizes.empty()) lines.put("sizes");
  lines.put("notes");
  lines.end();
  const auto put_row = [&](const reports::Row& row) {
    for (const auto& word : row.words) lines.put(word);
    for (const auto& cell : row.cells) lines.put_field(cell_text(cell));
    if (!sizes.empty()) lines.put(sizes);
    lines.put(notes(metrics, row.cells));
    lines.end();
  };
  reports::for_each_row(report, metrics, {.leading_dot = options.leading_dot}, put_row);
  lines.flush();
}

}  // namespace csv_report
