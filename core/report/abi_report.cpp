// tmeter.host.report/1 and tmeter.host.output/1: the report as writers see it.

#include <tmeter/abi/draft/comparison.h>

#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/report/report.hpp"

namespace tmeter::core {
namespace {

const Report& of(const tmeter_report* r) { return *reinterpret_cast<const Report*>(r); }

tmeter_str lookup(const std::map<std::string, std::string, std::less<>>& map, tmeter_str key) {
  const auto it = map.find(view(key));
  return it == map.end() ? tmeter_str{} : to_abi(it->second);
}

tmeter_status metric_at(const tmeter_report* r, size_t i, tmeter_metric_info* out) {
  const auto& columns = of(r).results.columns;
  if (i >= columns.size()) return TMETER_INVALID_ARGUMENT;
  const auto& c = columns[i];
  return fill_struct<tmeter_metric_info>(
      {0, c.flags, to_abi(c.id), to_abi(c.title), to_abi(c.unit), c.unit_kind, c.axis,
       c.aggregation, c.better, c.provenance, 0, to_abi(c.provenance_text), to_abi(c.convention),
       to_abi(c.description), to_abi(c.plugin)},
      out, TMETER_SIZE_1_0(tmeter_metric_info));
}

tmeter_number cell(const tmeter_report* r, size_t metric, int32_t axis, size_t index) {
  const auto& columns = of(r).results.columns;
  if (metric >= columns.size() || axis < 0 || axis >= static_cast<int32_t>(kAxisCount)) return {};
  return columns[metric].cell(axis, index);
}

tmeter_status coverage(const tmeter_report* r, tmeter_coverage* out) {
  const auto& c = of(r).results.coverage;
  return fill_struct<tmeter_coverage>(
      {0, 0, to_abi(c.metric), c.counted, c.zero_by_rule, c.unknown}, out,
      TMETER_SIZE_1_0(tmeter_coverage));
}

tmeter_status unknown_at(const tmeter_report* r, size_t i, tmeter_str* op, uint64_t* nodes) {
  const auto& list = of(r).results.coverage.unknown_ops;
  if (i >= list.size()) return TMETER_INVALID_ARGUMENT;
  *op = to_abi(list[i].op);
  *nodes = list[i].nodes;
  return TMETER_OK;
}

tmeter_status pair_at(const std::vector<std::pair<std::string, std::string>>& list, size_t i,
                      tmeter_str* first, tmeter_str* second) {
  if (i >= list.size()) return TMETER_INVALID_ARGUMENT;
  *first = to_abi(list[i].first);
  *second = to_abi(list[i].second);
  return TMETER_OK;
}

tmeter_status finding_at(const tmeter_report* r, size_t i, tmeter_finding* out) {
  const auto& list = of(r).results.findings;
  if (i >= list.size()) return TMETER_INVALID_ARGUMENT;
  const auto& f = list[i];
  return fill_struct<tmeter_finding>(
      {0, f.severity, to_abi(f.rule), to_abi(f.text), to_abi(f.evidence), to_abi(f.action),
       f.targets.data(), f.targets.size(), f.changes.data(), f.changes.size()},
      out, TMETER_SIZE_1_0(tmeter_finding));
}

tmeter_status distribution_at(const tmeter_report* r, size_t i, tmeter_distribution* out) {
  const auto& list = of(r).results.distributions;
  if (i >= list.size()) return TMETER_INVALID_ARGUMENT;
  const auto& d = list[i];
  return fill_struct<tmeter_distribution>({0, 0, to_abi(d.id), to_abi(d.title), to_abi(d.unit),
                                           d.of, d.edges.data(), d.counts.data(), d.counts.size()},
                                          out, TMETER_SIZE_1_0(tmeter_distribution));
}

tmeter_status series_at(const tmeter_report* r, size_t i, tmeter_series* out) {
  const auto& list = of(r).results.series;
  if (i >= list.size()) return TMETER_INVALID_ARGUMENT;
  const auto& s = list[i];
  return fill_struct<tmeter_series>(
      {0, 0, to_abi(s.id), to_abi(s.title), to_abi(s.x_title), to_abi(s.x_unit), to_abi(s.y_title),
       to_abi(s.y_unit), s.of, s.x.data(), s.y.data(), s.x.size()},
      out, TMETER_SIZE_1_0(tmeter_series));
}

int32_t module_repeat(const tmeter_report* r, size_t module, size_t* window, size_t* times) {
  const auto& repeats = of(r).module_descriptions().repeats;
  if (module >= repeats.size() || repeats[module].times == 0) return 0;
  *window = repeats[module].window;
  *times = repeats[module].times;
  return 1;
}

tmeter_i64_span span(const std::vector<int64_t>& v) { return {v.data(), v.size()}; }

tmeter_status formula_at(const tmeter_report* r, size_t i, tmeter_formula* out) {
  const auto& formulas = of(r).formulas;
  if (i >= formulas.list.size()) return TMETER_INVALID_ARGUMENT;
  const auto& f = formulas.list[i];
  return fill_struct<tmeter_formula>(
      {0, f.partial ? uint32_t{TMETER_FORMULA_PARTIAL} : 0, f.metric, f.module, to_abi(f.text),
       span(formulas.symbols), f.polynomial.terms.size()},
      out, TMETER_SIZE_1_0(tmeter_formula));
}

tmeter_status term_at(const tmeter_report* r, size_t formula, size_t term, tmeter_term* out) {
  const auto& list = of(r).formulas.list;
  if (formula >= list.size() || term >= list[formula].polynomial.terms.size())
    return TMETER_INVALID_ARGUMENT;
  const auto& t = list[formula].polynomial.terms[term];
  return fill_struct<tmeter_term>({0, 0, t.numerator, t.denominator, span(t.powers)}, out,
                                  TMETER_SIZE_1_0(tmeter_term));
}

tmeter_status sweep(const tmeter_report* r, tmeter_sweep* out) {
  const auto& s = of(r).sweep;
  return fill_struct<tmeter_sweep>({0, 0, span(s.symbols), s.points.size()}, out,
                                   TMETER_SIZE_1_0(tmeter_sweep));
}

tmeter_number sweep_total(const tmeter_report* r, size_t point, size_t metric) {
  const auto& totals = of(r).sweep.totals;
  const bool available = point < totals.size() && metric < totals[point].size();
  return available ? totals[point][metric] : tmeter_number{};
}

tmeter_status assertion_at(const tmeter_report* r, size_t i, tmeter_assertion* out) {
  const auto& list = of(r).assertions;
  if (i >= list.size()) return TMETER_INVALID_ARGUMENT;
  const auto& a = list[i];
  return fill_struct<tmeter_assertion>(
      {0, a.holds, to_abi(a.assertion.text), to_abi(a.subject), to_abi(a.assertion.op), a.value,
       a.assertion.limit, a.metric, a.module},
      out, TMETER_SIZE_1_0(tmeter_assertion));
}

const tmeter_report_api* report_interface() {
  static const tmeter_report_api api{
      sizeof(tmeter_report_api),
      0,
      [](const tmeter_report* r) { return to_handle(of(r).graph); },
      [](const tmeter_report* r, tmeter_str key) { return lookup(of(r).properties, key); },
      [](const tmeter_report* r, tmeter_str key) { return lookup(of(r).view, key); },
      [](const tmeter_report* r) { return of(r).results.columns.size(); },
      metric_at,
      cell,
      coverage,
      [](const tmeter_report* r) { return of(r).results.coverage.unknown_ops.size(); },
      unknown_at,
      [](const tmeter_report* r) { return of(r).warnings.size(); },
      [](const tmeter_report* r, size_t i) {
        const auto& w = of(r).warnings;
        return i < w.size() ? to_abi(w[i]) : tmeter_str{};
      },
      [](const tmeter_report* r) { return of(r).config.size(); },
      [](const tmeter_report* r, size_t i, tmeter_str* k, tmeter_str* v) {
        return pair_at(of(r).config, i, k, v);
      },
      [](const tmeter_report* r) { return of(r).plugins.size(); },
      [](const tmeter_report* r, size_t i, tmeter_str* k, tmeter_str* v) {
        return pair_at(of(r).plugins, i, k, v);
      },
      [](const tmeter_report* r) { return of(r).results.findings.size(); },
      finding_at,
      [](const tmeter_report* r, size_t i) {
        const auto& f = of(r).results.findings;
        return i < f.size() ? to_abi(f[i].plugin) : tmeter_str{};
      },
      [](const tmeter_report* r, size_t module, tmeter_str key) {
        return to_abi(of(r).module_descriptions().text(view(key), module));
      },
      module_repeat,
      [](const tmeter_report* r) { return of(r).formulas.list.size(); },
      formula_at,
      term_at,
      sweep,
      [](const tmeter_report* r, size_t i) {
        const auto& points = of(r).sweep.points;
        return i < points.size() ? span(points[i]) : tmeter_i64_span{};
      },
      sweep_total,
      [](const tmeter_report* r) { return of(r).results.distributions.size(); },
      distribution_at,
      [](const tmeter_report* r) { return of(r).results.series.size(); },
      series_at,
      [](const tmeter_report* r) { return of(r).assertions.size(); },
      assertion_at};
  return &api;
}

OutputStream& of(tmeter_output* o) { return *reinterpret_cast<OutputStream*>(o); }
const OutputStream& of(const tmeter_output* o) { return *reinterpret_cast<const OutputStream*>(o); }

tmeter_status write(tmeter_output* o, tmeter_bytes bytes) {
  if (!of(o).may_be_used()) return TMETER_INVALID_ARGUMENT;
  if (!bytes.ptr) return TMETER_OK;
  try {
    return of(o).write({reinterpret_cast<const char*>(bytes.ptr), bytes.len}), TMETER_OK;
  } catch (...) {
    return TMETER_IO;
  }
}

const tmeter_output_api* output_interface() {
  static const tmeter_output_api api{
      sizeof(tmeter_output_api), 0, write,
      [](const tmeter_output* o) -> int32_t { return of(o).may_be_used() && of(o).color(); },
      [](const tmeter_output* o) -> int32_t { return of(o).may_be_used() ? of(o).columns() : 0; }};
  return &api;
}

}  // namespace

void add_report_interfaces() {
  add_interface(TMETER_HOST_REPORT, report_interface());
  add_interface(TMETER_HOST_OUTPUT, output_interface());
  add_interface(TMETER_HOST_COMPARISON, comparison_interface());
}

const tmeter_report* to_handle(const Report* report) {
  return reinterpret_cast<const tmeter_report*>(report);
}
void OutputStream::write(std::string_view bytes) {
  constexpr size_t kPiece = size_t{1} << 16;
  if (!pending_.empty() && pending_.size() + bytes.size() >= kPiece) flush();
  if (bytes.size() >= kPiece) return sink_->report(target_, bytes);
  pending_ += bytes;
}

void OutputStream::flush() {
  sink_->report(target_, pending_);  // at the end, too, even without bytes: the report is complete
  pending_.clear();
}

tmeter_output* to_handle(OutputStream* output) { return reinterpret_cast<tmeter_output*>(output); }

// tmeter.host.comparison/0.1: the pairs and notes of a comparison.

namespace {

const Comparison& comparison_of(const tmeter_report* r) {
  return reinterpret_cast<const Report*>(r)->comparison;
}

tmeter_status module_pair_at(const tmeter_report* r, size_t i, tmeter_pair* out) {
  const auto& pairs = comparison_of(r).pairs;
  if (i >= pairs.size()) return TMETER_INVALID_ARGUMENT;
  const auto& p = pairs[i];
  return fill_struct<tmeter_pair>({0, p.flags, p.before, p.after, p.depth}, out,
                                  sizeof(tmeter_pair));
}

}  // namespace

const void* comparison_interface() {
  static const tmeter_comparison_api api{
      sizeof(tmeter_comparison_api),
      0,
      [](const tmeter_report* r) { return to_handle(comparison_of(r).before); },
      [](const tmeter_report* r) { return comparison_of(r).pairs.size(); },
      module_pair_at,
      [](const tmeter_report* r) { return comparison_of(r).notes.size(); },
      [](const tmeter_report* r, size_t i) {
        const auto& notes = comparison_of(r).notes;
        return i < notes.size() ? to_abi(notes[i]) : tmeter_str{};
      }};
  return &api;
}

}  // namespace tmeter::core
