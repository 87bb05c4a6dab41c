// The sections that are short: summary, sizes, time and energy, recommendations, method.
#include <algorithm>
#include <array>
#include <map>
#include <tmeter/cpp/units.hpp>
#include <tmeter/cpp/vocabulary.hpp>

#include "../common/describe.hpp"
#include "../common/groups.hpp"
#include "../common/rows.hpp"
#include "document.hpp"
#include "plugins/common/wording.hpp"

namespace full_text_report {
namespace {

using tmeter::Metric;
using tmeter::to_view;

void model_facts(Document& d) {
  const auto put = [&d](std::string_view what, const std::string& text) {
    if (!text.empty()) d.line(1, std::string(what) + ": " + text);
  };
  const auto size = reports::file_size(d.report);
  put("file", std::string(d.report.property("model.file")) + (size.empty() ? "" : ", " + size));
  put("format", reports::format_of(d.report));
  put("part of the file", std::string(d.graph.property("part")));
  put("sizes", std::string(d.report.property("sizes")));
  for (const auto& m : d.graph.metadata())
    put(std::string(m.space()) + ", " + std::string(m.key()), reports::describe(m));
  for (size_t i = 0; i < d.graph.inputs().size(); ++i)
    put("input", reports::describe_input(d.graph, i));
  for (const auto& output : d.graph.outputs()) put("output", reports::describe(output));
  for (const auto& [place, values] : reports::output_values(d.report))
    put("values of output " + place, values);
  const auto count = [](size_t n, const char* thing) { return plugins::count_of(n, thing); };
  put("holds", count(d.graph.modules().size(), "module") + ", " +
                   count(d.graph.tensors().size(), "tensor") + ", " +
                   count(d.graph.nodes().size(), "operator call"));
}

bool is_timing(const Metric& m) {
  constexpr std::array kKinds{TMETER_UNIT_SECOND, TMETER_UNIT_JOULE, TMETER_UNIT_WATT};
  const auto kind = m.unit_kind();
  return std::any_of(kKinds.begin(), kKinds.end(), [kind](auto k) { return kind == k; });
}

std::string source_of(const Metric& m) {
  const std::string text(m.provenance_text());
  return std::string(tmeter::vocabulary::kProvenances.word(m.provenance())) +
         (text.empty() ? "" : ", " + text);
}

}  // namespace

void summary(Document& d) {
  d.heading("Summary");
  model_facts(d);
  d.gap();
  for (size_t i = 0; i < d.metrics.size(); ++i) {
    const auto total = d.report.total(d.metrics[i]);
    if (total.empty()) continue;
    const auto full = reports::shown_in_full(total, d.metrics[i]);
    const auto brief = reports::shown(total, d.metrics[i]);
    d.line(1, std::string(d.metrics[i].title()) + ": " + full +
                  (brief == full ? "" : " (" + brief + ")"));
  }
  d.gap();
  for (const auto& text :
       {reports::describe_coverage(d.report), reports::describe_unknown(d.report)})
    if (!text.empty()) d.line(1, text);
  for (const auto& a : d.report.assertions())
    d.line(1, std::string(a.holds() ? "holds: " : "DOES NOT HOLD: ") + std::string(a.expression()) +
                  " (it is " + reports::describe_value(d.report, a) + ")");
  std::map<int32_t, size_t, std::greater<>> by_severity;
  for (const auto& f : d.report.findings()) ++by_severity[f.severity()];
  for (const auto& [severity, count] : by_severity)
    d.line(1, plugins::count_of(count, "finding") + " of severity " +
                  std::string(tmeter::vocabulary::kSeverities.word(severity)));
  for (const auto& text : d.report.warnings()) d.line(1, "warning: " + std::string(text));
}

namespace {

/// "Convolution  20 layers  params 11.17 M (95.6 %) · MACs 1.81 G (100.0 %)": sums with their
/// share.
void groups(Document& d, const reports::Groups& groups, const char* thing) {
  for (const auto& group : groups.all()) {
    std::string text = group.name.empty() ? "(type unknown)" : group.name;
    text += "  " + plugins::count_of(group.count, thing);
    const auto cells = reports::cells_of(group.sums);
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      text +=
          " · " + std::string(d.metrics[i].title()) + " " + reports::shown(cells[i], d.metrics[i]);
      const auto total = d.report.total(d.metrics[i]);
      const bool is_share = d.metrics[i].aggregation() == TMETER_AGGREGATE_SUM;
      if (is_share && cells[i].known() && total.known() && total.real() > 0)
        text += " (" + plugins::percent(cells[i].real() / total.real()) + ")";
    }
    d.line(1, text);
  }
}

}  // namespace

void distribution(Document& d) {
  if (d.graph.modules().size() <= 1) return;
  d.heading("Layers by family and class");
  groups(d, reports::by_family(d.report, d.metrics), "layer");
  d.gap();
  groups(d, reports::by_type(d.report, d.metrics), "module");
}

void sizes(Document& d) {
  const auto formulas = d.report.formulas();
  const auto sweep = d.report.sweep();
  if (formulas.size() == 0 && sweep.symbols.len == 0) return;
  d.heading("Costs by size");
  for (const auto& s : d.graph.symbols())
    d.line(1, std::string(to_view(s.name)) + " = " + std::to_string(s.value) +
                  (s.place.len ? ", " + std::string(to_view(s.place)) : ""));
  for (const auto& f : formulas) {
    const auto path = d.graph.modules()[f.module].path();
    d.line(1, std::string(d.report.metrics()[f.metric].title()) +
                  (f.module ? " of " + std::string(path) : "") +
                  (f.flags & TMETER_FORMULA_PARTIAL ? " ≥ " : " = ") +
                  std::string(to_view(f.text)));
  }
  if (sweep.symbols.len == 0) return;
  const auto titles = reports::row_titles(d.report);
  reports::for_each_row(d.report, d.metrics, {}, [&](const reports::Row& row) {
    std::string text;
    for (size_t i = 0; i < titles.size(); ++i)
      text += (i ? ", " : "") + titles[i] + " = " + row.words[i];
    d.line(1, text + ": " + d.values(row.cells));
  });
}

void time_and_energy(Document& d) {
  d.heading("Time, power and energy");
  size_t shown = 0;
  for (size_t i = 0; i < d.metrics.size(); ++i) {
    const auto& m = d.metrics[i];
    const auto total = d.report.total(m);
    if (!is_timing(m) || total.empty()) continue;
    ++shown;
    d.line(1, std::string(m.title()) + ": " + reports::shown(total, m) + " (" + source_of(m) + ")");
  }
  if (!shown) d.line(1, "Not requested: --plugins=energy estimates energy from the operators.");
  if (const auto hardware = d.report.property("hardware"); !hardware.empty())
    d.line(1, "hardware profile: " + std::string(hardware));
  if (const auto seconds = reports::analysis_seconds(d.report))
    d.line(1, "The analysis itself took " +
                  tmeter::scaled(*seconds, TMETER_UNIT_SECOND, "s").text() + ".");
}

void recommendations(Document& d) {
  d.heading("Findings and recommendations");
  if (d.report.findings().size() == 0)
    d.line(1,
           "None. Advice comes from plugins: --plugins=architecture,quantization-advice,"
           "pruning-advice.");
  for (const auto& f : d.report.findings()) {
    d.line(1, std::string(tmeter::vocabulary::kSeverities.word(f.severity())) + ": " +
                  std::string(f.text()) + " [" + std::string(f.rule()) + "]");
    if (!f.evidence().empty()) d.line(2, "because: " + std::string(f.evidence()));
    for (const auto& change : f.changes())
      if (const auto text = reports::describe_change(d.report, change); !text.empty())
        d.line(2, "gain: " + text);
    if (!f.action().empty()) d.line(2, "do: " + std::string(f.action()));
    for (const auto& target : f.targets())
      if (const auto text = reports::describe_target(d.graph, target); !text.empty())
        d.line(2, "at: " + text);
  }
}

void method(Document& d) {
  d.heading("How it was counted");
  for (const auto& m : d.metrics) {
    d.line(1, std::string(m.title()) + " (" + std::string(m.id()) +
                  "): " + std::string(m.convention()));
    d.line(2, source_of(m) + "; by " + std::string(m.plugin()));
  }
  d.gap();
  d.line(1, reports::kLegend);
  for (const auto& [key, value] : d.report.config())
    d.line(1, std::string(key) + " = " + std::string(value));
  for (const auto& [id, version] : d.report.plugins())
    d.line(1, "plugin " + std::string(id) + " " + std::string(version));
  d.line(1, "tmeter " + std::string(d.report.property("tool.version")));
}

}  // namespace full_text_report
