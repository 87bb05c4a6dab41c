// A comparison side by side in a browser: one file, under a policy that allows only its own script
// (page.hpp). The script adds search and sorting, nothing else.
#include <array>
#include <charconv>
#include <tuple>

#include "../common/base64.hpp"
#include "../common/describe.hpp"
#include "changes.hpp"
#include "page.hpp"
#include "plugins/common/utf8.hpp"
#include "plugins/common/wording.hpp"

namespace diff_report {
namespace {

// With more modules than this, unchanged ones are left out.
constexpr size_t kMaxWithUnchanged = 5'000;
constexpr size_t kFlushBytes = 1 << 16;

/// Literal text, for content and attributes.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : plugins::readable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// "good", "bad" or empty, by the metric's better direction.
std::string_view class_of(const Change& change, const tmeter::Metric& metric) {
  const auto d = change.difference();
  if (!d || d->real() == 0) return "none";
  if (metric.better() == TMETER_BETTER_NEITHER) return "moved";
  return (d->real() < 0) == (metric.better() == TMETER_BETTER_LOWER) ? "good" : "bad";
}

/// " data-v=4.5": the key that the script sorts by.
std::string value_of(const Cell& cell) {
  if (!cell.known()) return {};
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), cell.real());
  return " data-v=" + std::string(text.data(), end);
}

class Page {
 public:
  Page(const Changes& changes, tmeter::Output& out) : changes_(changes), out_(out) {}

  void write() {
    const auto name = plain(reports::model_name(changes_.after()));
    put(kPageBegin, "script-src ", reports::policy_hash(kPageScript), "; style-src ",
        reports::policy_hash(kPageStyle), kPageHead, name, "</title>\n<style>", kPageStyle,
        "</style>\n</head>\n<body>\n<header>\n<h1>", name,
        ": before and after</h1>\n<div class=sides>");
    side("before", changes_.before());
    side("after", changes_.after());
    put("</div>\n</header>\n<main>\n");
    totals();
    assertions();
    notes();
    modules();
    put("</main>\n<footer>tmeter ", plain(changes_.after().property("tool.version")),
        "</footer>\n<script>", kPageScript, "</script>\n</body>\n</html>\n");
    flush();
  }

 private:
  template <class... Texts>
  void put(const Texts&... texts) {
    ((text_ += texts), ...);
    if (text_.size() > kFlushBytes) flush();
  }
  void flush() {
    out_.write(text_);
    text_.clear();
  }

  void side(const char* word, const tmeter::Report& report) {
    put("<section aria-label=", word, "><h2>", word, "</h2><p><strong>",
        plain(reports::model_name(report)), "</strong> ", plain(report.property("model.file")));
    if (const auto size = reports::file_size(report); !size.empty()) put(" (", plain(size), ")");
    put("</p><p>", plain(reports::format_of(report)), "</p>");
    for (size_t i = 0; i < std::min<size_t>(report.graph().inputs().size(), 6); ++i)
      put("<p><code>", plain(reports::describe_input(report.graph(), i)), "</code></p>");
    put("</section>");
  }

  void values(const Change& change, const Column& c) {
    const auto look = class_of(change, c.after);
    // On a phone a row is a list without unchanged metrics, and data-m has their titles.
    const std::string_view kind = look == "none" ? "\"n still\"" : "n";
    put("<td class=", kind, " data-m=\"", plain(c.after.title()), "\"", value_of(change.before),
        ">", plain(reports::shown(change.before, c.before)), "</td><td class=", kind,
        value_of(change.after), ">", plain(reports::shown(change.after, c.after)),
        "</td><td class=\"n ", look, "\">", plain(shown_difference(change, c.after)),
        "</td><td class=\"n ", look, "\">", plain(shown_relative(change)), "</td>");
  }

  void totals() {
    put("<h2>Totals</h2>\n<div class=wide tabindex=0 role=region aria-label=totals><table "
        "class=totals>"
        "<thead><tr><th scope=col>metric</th><th scope=col>before</th><th scope=col>after</th>"
        "<th scope=col colspan=2>change</th></tr></thead>\n<tbody>\n");
    for (const auto& c : changes_.columns()) {
      put("<tr><th scope=row title=\"", plain(c.after.convention()), "\">", plain(c.after.title()),
          "</th>");
      values(changes_.total(c), c);
      put("</tr>\n");
    }
    put("</tbody></table></div>\n");
  }

  void assertions() {
    const auto all = changes_.after().assertions();
    if (all.size() == 0) return;
    put("<h2>Bounds</h2>\n<ul>\n");
    for (const auto& a : all)
      put("<li class=", a.holds() ? "good" : "bad", ">",
          a.holds() ? "✓ holds: " : "✗ does not hold: ", "<code>", plain(a.expression()),
          "</code> (", plain(assertion_value(changes_, a)), ")</li>\n");
    put("</ul>\n");
  }

  void notes() {
    const auto all = changes_.view().notes();
    if (all.size() == 0) return;
    put("<h2>Notes</h2>\n<ul>\n");
    for (const auto note : all) put("<li>", plain(note), "</li>\n");
    put("</ul>\n");
  }

  void head() {
    put("<thead><tr><th scope=col rowspan=2>before</th><th scope=col rowspan=2>after</th>");
    for (const auto& c : changes_.columns())
      put("<th scope=colgroup colspan=4 title=\"", plain(c.after.convention()), "\">",
          plain(c.after.title()), "</th>");
    put("</tr>\n<tr>");
    for (size_t i = 0; i < changes_.columns().size(); ++i)
      put("<th scope=col>before</th><th scope=col>after</th><th scope=col>change</th>"
          "<th scope=col>in %</th>");
    put("</tr></thead>\n");
  }

  void module_cell(const tmeter::Report& report, const std::optional<tmeter::Module>& m,
                   size_t depth, std::string_view kind) {
    if (!m) return put("<td class=empty></td>");
    const auto indent = std::to_string(std::min<size_t>(depth, 12));
    const auto name = m->path().empty() ? "(model)" : plain(m->path());
    const auto text = report.module_text(*m);
    put("<td class=\"m ", kind, "d", indent, "\"><code>", name, "</code>", reports::calls_mark(*m),
        " <span>", plain(text.empty() ? m->type() : text), "</span></td>");
  }

  static std::string_view row_class(const Row& row) {
    if (!row.kind().empty()) return row.kind();
    return row.pair.flags == 0 ? "same" : "figures";
  }

  /// Whether the module has the same path, type and text before and after.
  bool is_alike(const Row& row) const {
    const auto& [before, after] = std::tie(row.before, row.after);
    return before && after && before->path() == after->path() && before->type() == after->type() &&
           changes_.before().module_text(*before) == changes_.after().module_text(*after);
  }

  void modules() {
    const bool with_same = changes_.counts().all <= kMaxWithUnchanged;
    put("<h2>Modules</h2>\n<p>", counts_text(changes_.counts()), ".</p>\n");
    if (with_same && changes_.counts().same > 0)
      put("<input type=checkbox id=changes checked><label for=changes> only changes</label>\n");
    put("<div class=tools></div>\n");
    // Focusable, so that the keyboard can scroll it.
    put("<div class=wide tabindex=0 role=region aria-label=modules><table class=modules>");
    head();
    put("<tbody>\n");
    for (const auto& p : changes_.view().pairs()) {
      if (p.flags == 0 && !with_same) continue;
      const auto row = changes_.row(p);
      put("<tr class=", row_class(row), ">");
      module_cell(changes_.before(), row.before, p.depth, "");
      module_cell(changes_.after(), row.after, p.depth, is_alike(row) ? "twin " : "");
      for (size_t c = 0; c < row.changes.size(); ++c) values(row.changes[c], changes_.columns()[c]);
      put("</tr>\n");
    }
    put("</tbody></table></div>\n");
  }

  const Changes& changes_;
  tmeter::Output& out_;
  std::string text_;
};

}  // namespace

void write_html(const Changes& changes, tmeter::Output& out) { Page(changes, out).write(); }

}  // namespace diff_report
