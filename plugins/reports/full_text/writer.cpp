#include "writer.hpp"

#include <tmeter/cpp/vocabulary.hpp>

#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "document.hpp"
#include "plugins/reports/text/look/look.hpp"

namespace full_text_report {
namespace {

constexpr size_t kIndent = 3;
constexpr size_t kMaxLine = 4000;  // characters; a name may have a million

}  // namespace

Document::Document(const tmeter::Report& r, tmeter::Output& o, bool only_ascii)
    : report(r),
      graph(r.graph()),
      metrics(reports::chosen_metrics(r, [](const tmeter::Metric&) { return true; })),
      findings(r),
      out(o),
      ascii(only_ascii) {}

void Document::heading(std::string_view title) {
  const auto text = std::to_string(++section_) + "  " + std::string(title);
  out << "\n" << text << "\n" << std::string(text.size(), '-') << "\n";
}

std::string Document::encoded(std::string text) const {
  if (!ascii) return text;
  std::string out;
  text_report::add_ascii(text, out);
  return out;
}

void Document::line(size_t indent, std::string_view text) {
  out << std::string(indent * kIndent, ' ');
  out << encoded(plugins::shortened(plugins::printable(text.substr(0, 4 * kMaxLine)), kMaxLine));
  out << "\n";
}

void Document::advice(int32_t axis, size_t index) {
  const auto all = report.findings();
  for (const auto place : findings.of(axis, index)) {
    const auto f = all[place];
    line(2, std::string(tmeter::vocabulary::kSeverities.word(f.severity())) + ": " +
                std::string(f.text()) +
                (f.action().empty() ? "" : " → " + std::string(f.action())) + " [" +
                std::string(f.rule()) + "]");
  }
}

std::string Document::values(const std::vector<tmeter::Cell>& cells) const {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    text += (text.empty() ? "" : " · ") + std::string(metrics[i].title()) + " " +
            reports::shown(cells[i], metrics[i]);
  }
  return text;
}

void write(const tmeter::Report& report, tmeter::Output& out, bool ascii) {
  Document d(report, out, ascii);
  const auto title =
      d.encoded("tmeter report of " + plugins::readable(reports::model_name(report)));
  d.out << title << "\n" << std::string(title.size(), '=') << "\n";
  for (const auto section : {summary, distribution, architecture, parameters, operators, sizes,
                             time_and_energy, curves, recommendations, method})
    section(d);
  d.out.flush();
}

}  // namespace full_text_report
