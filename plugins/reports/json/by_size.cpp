#include "by_size.hpp"

#include <numeric>

#include "../common/figures.hpp"

namespace json_report {
namespace {

std::vector<std::string_view> symbol_names(const tmeter::Graph& graph, const tmeter_i64_span& ids) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < ids.len; ++i)
    names.push_back(tmeter::to_view(graph.symbols()[static_cast<size_t>(ids.ptr[i])].name));
  return names;
}

Json term(const tmeter_term& t, const std::vector<std::string_view>& names) {
  Json powers = Json::object();
  for (size_t i = 0; i < t.powers.len; ++i)
    if (t.powers.ptr[i] > 0) powers.emplace(names[i], t.powers.ptr[i]);
  Json out{{"coefficient", t.numerator}};
  if (t.denominator != 1) out.emplace("denominator", t.denominator);
  out.emplace("powers", std::move(powers));
  return out;
}

}  // namespace

void formulas(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  const auto metrics = report.metrics();
  const auto all = report.formulas();
  std::vector<size_t> indices(all.size());
  std::iota(indices.begin(), indices.end(), size_t{0});
  stream.list_lines("formulas", indices, [&](size_t i) {
    const auto f = all[i];
    const auto names = symbol_names(graph, f.symbols);
    Json terms = Json::array();
    for (size_t t = 0; t < f.term_count; ++t) terms.push_back(term(report.term(i, t), names));
    Json entry{{"metric", metrics[f.metric].id()},
               {"module", graph.modules()[f.module].path()},
               {"text", tmeter::to_view(f.text)}};
    if (f.flags & TMETER_FORMULA_PARTIAL) entry.emplace("partial", true);
    entry.emplace("terms", std::move(terms));
    return entry;
  });
}

Json sweep(const tmeter::Report& report) {
  const auto sweep = report.sweep();
  if (sweep.symbols.len == 0) return nullptr;
  Json points = Json::array(), totals = Json::object(), status = Json::object();
  for (size_t p = 0; p < sweep.point_count; ++p) {
    const auto point = report.sweep_point(p);
    points.push_back(std::vector<int64_t>(point.ptr, point.ptr + point.len));
  }
  for (const auto& m : report.metrics()) {
    Json figures = Json::array(), marks = Json::array();
    bool marked = false;
    for (size_t p = 0; p < sweep.point_count; ++p) {
      const auto total = report.sweep_total(p, m);
      const auto mark = reports::status_of(total, m);
      figures.push_back(number(total));
      marks.push_back(mark ? Json(*mark) : Json(nullptr));
      marked = marked || mark;
    }
    totals.emplace(m.id(), std::move(figures));
    if (marked) status.emplace(m.id(), std::move(marks));
  }
  return {{"symbols", symbol_names(report.graph(), sweep.symbols)},
          {"points", std::move(points)},
          {"totals", std::move(totals)},
          {"totals_status", std::move(status)}};
}

}  // namespace json_report
