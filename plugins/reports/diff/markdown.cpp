// A comparison for a comment on a pull request.
#include "../common/describe.hpp"
#include "../markdown/markup.hpp"
#include "changes.hpp"
#include "plugins/common/wording.hpp"

namespace diff_report {
namespace {

using markdown_report::code;
using markdown_report::escaped;

constexpr size_t kTableRows = 40;

std::string model_line(const char* word, const tmeter::Report& report) {
  std::string text =
      "- " + std::string(word) + ": **" + escaped(reports::model_name(report)) + "**";
  if (const auto file = report.property("model.file"); !file.empty()) text += " " + code(file);
  for (const auto& more : {reports::file_size(report), reports::format_of(report)})
    if (!more.empty()) text += ", " + escaped(more);
  return text + "\n";
}

void line_of(std::string& out, const std::vector<std::string>& cells) {
  out += '|';
  for (const auto& c : cells) out += " " + c + " |";
  out += '\n';
}

void totals(const Changes& changes, std::string& out) {
  line_of(out, {"", "before", "after", "change", ""});
  line_of(out, {":--", "--:", "--:", "--:", "--:"});
  for (const auto& c : changes.columns()) {
    const auto change = changes.total(c);
    line_of(out, {"**" + escaped(c.after.title()) + "**",
                  escaped(reports::shown_in_full(change.before, c.before)),
                  escaped(reports::shown_in_full(change.after, c.after)),
                  shown_difference(change, c.after), shown_relative(change)});
  }
  out += '\n';
}

std::string path_of(const Row& row) {
  const auto name = [](const tmeter::Module& m) {
    return m.path().empty() ? std::string("*model*") : code(m.path());
  };
  if (!row.before || !row.after) return name(row.before ? *row.before : *row.after);
  if (row.before->path() == row.after->path()) return name(*row.after);
  return name(*row.before) + " → " + name(*row.after);
}

void modules(const Changes& changes, std::string& out) {
  out += counts_text(changes.counts()) + "\n\n";
  const auto pairs = changes.differing(kTableRows);
  if (pairs.empty()) return;
  out += "<details>\n<summary>modules that differ (" + std::to_string(pairs.size()) +
         ")</summary>\n\n";
  std::vector<std::string> titles{"", "module", "type"}, rule{":--", ":--", ":--"};
  for (const auto& c : changes.columns()) {
    titles.push_back(escaped(c.after.title()));
    rule.emplace_back("--:");
  }
  line_of(out, titles);
  line_of(out, rule);
  for (const auto& p : pairs) {
    const auto row = changes.row(p);
    std::vector<std::string> cells{std::string(row.kind()), path_of(row) + row.calls(),
                                   escaped(row.type())};
    for (size_t c = 0; c < row.changes.size(); ++c) {
      const auto& metric = changes.columns()[c].after;
      const auto& change = row.changes[c];
      const auto relative = shown_relative(change);
      if (row.before && row.after)
        cells.push_back(shown_in_row(change, metric) +
                        (relative.empty() || relative == "0 %" ? "" : " (" + relative + ")"));
      else
        cells.push_back(escaped(reports::shown(row.before ? change.before : change.after, metric)));
    }
    line_of(out, cells);
  }
  out += "\n";
  if (const auto hidden = changes.differing_count() - pairs.size(); hidden > 0)
    out += std::to_string(hidden) + " more below: `--depth all`\n\n";
  out += "</details>\n";
}

}  // namespace

void write_markdown(const Changes& changes, tmeter::Output& out) {
  std::string text =
      "## " + escaped(reports::model_name(changes.after())) + ": before and after\n\n";
  text += model_line("before", changes.before()) + model_line("after", changes.after()) + "\n";
  totals(changes, text);
  for (const auto& a : changes.after().assertions())
    text += std::string("- ") + (a.holds() ? "✅ holds: " : "❌ does not hold: ") +
            escaped(a.expression()) + " (" + escaped(assertion_value(changes, a)) + ")\n";
  if (changes.after().assertions().size() > 0) text += "\n";
  modules(changes, text);
  for (const auto note : changes.view().notes()) text += "\n⚠️ " + escaped(note) + "\n";
  out.write(text);
}

}  // namespace diff_report
