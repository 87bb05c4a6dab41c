#include "core/symbolic/formulas.hpp"

#include <algorithm>

#include "core/analysis/engine.hpp"
#include "core/analysis/other_sizes.hpp"
#include "core/symbolic/pieces.hpp"

namespace tmeter::core {
namespace {

// With more of them modules have no formulas, to bound time and memory.
constexpr size_t kMaxFormulas = 100'000;

bool is_sum(const Column& c) {
  return c.axis == TMETER_AXIS_NODE && c.aggregation == TMETER_AGGREGATE_SUM &&
         c.provenance == TMETER_PROVENANCE_COMPUTED;
}

/// Bytes of the whole model: a peak, which is a maximum of polynomials where its place moves.
bool is_peak(const Column& c) {
  return c.axis == TMETER_AXIS_MODEL && c.aggregation == TMETER_AGGREGATE_NONE &&
         c.provenance == TMETER_PROVENANCE_COMPUTED && c.unit_kind == TMETER_UNIT_BYTE;
}

std::optional<int64_t> integer(const tmeter_number& n) {
  if (n.kind == TMETER_NUMBER_INT) return n.i;
  return n.kind == TMETER_NUMBER_ZERO_BY_RULE ? std::optional<int64_t>(0) : std::nullopt;
}

/// One metric of one module; of the root, that of the model.
struct OneSeries {
  size_t metric, module;
};

tmeter_number cell_of(const Results& results, const OneSeries& s) {
  const auto& c = results.columns[s.metric];
  return s.module == 0 ? c.cell(TMETER_AXIS_MODEL, 0) : c.cell(TMETER_AXIS_MODULE, s.module);
}

/// The series that are fitted.
class FittedSeries {
 public:
  FittedSeries(const Graph& graph, const FormulaRequest& request) : request_(request) {
    std::vector<size_t> metrics;
    for (size_t i = 0; i < request.results.columns.size(); ++i) {
      const auto& c = request.results.columns[i];
      if (is_sum(c) && request.wanted(c)) metrics.push_back(i);
    }
    const bool all = metrics.size() * graph.modules().size() <= kMaxFormulas;
    for (const auto metric : metrics) {
      for (size_t m = 0; m < (all ? graph.modules().size() : 1); ++m) list_.push_back({metric, m});
    }
  }
  const std::vector<OneSeries>& list() const { return list_; }

  /// `results` may have columns beyond the request, such as measured ones.
  Fittable::Values values(const Results& results) const {
    Fittable::Values out;
    out.reserve(list_.size());
    size_t column = 0;
    for (const auto& s : list_) {
      const auto& id = request_.results.columns[s.metric].id;
      while (results.columns[column].id != id) ++column;  // in the same order
      out.push_back(integer(cell_of(results, {column, s.module})));
    }
    return out;
  }

 private:
  const FormulaRequest& request_;
  std::vector<OneSeries> list_;
};

std::vector<size_t> free_symbols(const Graph& graph, const std::set<size_t>& fixed) {
  std::vector<size_t> out;
  for (size_t i = 0; i < graph.symbols().size(); ++i) {
    const auto& s = graph.symbols()[i];
    if (s.min < s.max && !fixed.contains(i)) out.push_back(i);
  }
  return out;
}

/// The model at other sizes, whose metrics of operators are run again.
class OtherRuns {
 public:
  OtherRuns(Graph& graph, std::vector<size_t> symbols, const FormulaRequest& request)
      : symbols_(std::move(symbols)),
        log_(-1),  // the run before has logged everything
        engine_(graph, request.plugins, log_, request.hardware),
        sizes_(graph) {
    for (const auto i : symbols_) {
      const auto& s = graph.symbols()[i];
      ranges_.push_back({s.min, s.max, s.value});
    }
  }

  std::vector<std::optional<Polynomial>> fit(const FittedSeries& series,
                                             const std::function<bool(const Column&)>& wanted) {
    return fit_polynomials(ranges_, function(series.list().size(), wanted,
                                             [&](const Results& r) { return series.values(r); }));
  }
  Pieces fit_peak(const Column& column) {
    const auto is_it = [&](const Column& c) { return c.id == column.id; };
    return fit_pieces(ranges_, function(1, is_it, [&](const Results& r) {
                        const auto& c = *std::ranges::find_if(r.columns, is_it);
                        return Fittable::Values{integer(c.cell(TMETER_AXIS_MODEL, 0))};
                      }));
  }

 private:
  /// Arguments are kept; `this` is borrowed.
  Fittable function(size_t series, std::function<bool(const Column&)> wanted,
                    std::function<Fittable::Values(const Results&)> values) {
    Fittable f;
    f.series = series;
    f.possible = [this](Fittable::Point point) {
      for (size_t i = 0; i < symbols_.size(); ++i) sizes_.set(symbols_[i], point[i]);
      return sizes_.try_apply();
    };
    f.evaluate = [this, possible = f.possible, wanted = std::move(wanted),
                  values =
                      std::move(values)](Fittable::Point point) -> std::optional<Fittable::Values> {
      if (!possible(point)) return std::nullopt;
      try {
        return values(engine_.run_nodes(wanted));
      } catch (const Error&) {
        return std::nullopt;  // a sum that exceeds 63 bits, a shape that an operator refuses
      }
    };
    return f;
  }

  std::vector<size_t> symbols_;
  std::vector<SizeRange> ranges_;
  CallLog log_;
  Engine engine_;
  OtherSizes sizes_;
};

}  // namespace

Formulas find_formulas(Graph& graph, const FormulaRequest& request) {
  Formulas out;
  const auto symbols = free_symbols(graph, request.fixed);
  const FittedSeries series(graph, request);
  std::vector<size_t> peaks;
  for (size_t i = 0; i < request.results.columns.size(); ++i) {
    const auto& c = request.results.columns[i];
    if (is_peak(c) && request.wanted(c) && integer(c.cell(TMETER_AXIS_MODEL, 0)))
      peaks.push_back(i);
  }
  if (symbols.empty() || (series.list().empty() && peaks.empty())) return out;
  if (symbols.size() > kMaxSizes) {
    const auto of_inputs =
        std::ranges::count_if(symbols, [&](size_t i) { return !graph.symbols()[i].place.empty(); });
    out.problem = std::to_string(symbols.size()) +
                  (of_inputs > 0 ? " sizes are dynamic" : " sizes depend on data") +
                  "; formulas have at most " + std::to_string(kMaxSizes) +
                  ": give values to some with --bind";
    return out;
  }
  std::vector<std::string_view> names;
  std::vector<int64_t> here;
  for (const auto i : symbols) {
    out.symbols.push_back(static_cast<int64_t>(i));
    names.push_back(graph.symbols()[i].name);
    here.push_back(graph.symbols()[i].value);
  }
  OtherRuns runs(graph, symbols, request);
  auto fitted = runs.fit(series, [&](const Column& c) { return is_sum(c) && request.wanted(c); });
  const auto known = series.values(request.results);
  for (size_t s = 0; s < fitted.size(); ++s) {
    const auto [metric, module] = series.list()[s];
    auto& p = fitted[s];
    if (!p || p->terms.empty() || !known[s] || p->at(here) != known[s]) continue;
    auto text = p->text(names);
    const bool partial = is_partial(cell_of(request.results, series.list()[s]));
    out.list.push_back({metric, module, partial, std::move(*p), std::move(text)});
  }
  for (const auto metric : peaks) {
    const auto& column = request.results.columns[metric];
    auto pieces = runs.fit_peak(column);
    // One of several is a lower bound; the largest is the peak.
    const bool partial =
        !pieces.whole || pieces.list.size() > 1 || is_partial(column.cell(TMETER_AXIS_MODEL, 0));
    for (auto& piece : pieces.list) {
      auto text = piece.text(names);
      out.list.push_back({metric, 0, partial, std::move(piece), std::move(text)});
    }
  }
  std::ranges::stable_sort(out.list, {}, &Formula::metric);
  return out;
}

}  // namespace tmeter::core
