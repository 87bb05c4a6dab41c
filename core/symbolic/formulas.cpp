#include "core/symbolic/formulas.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/engine.hpp"
#include "core/analysis/size_overrides.hpp"
#include "core/symbolic/fit.hpp"

namespace tmeter::core {
namespace {

// With more of them modules have no formulas, to bound time and memory.
constexpr size_t kMaxFormulas = 100'000;

bool is_sum(const Column& c) {
  return c.axis == TMETER_AXIS_NODE && c.aggregation == TMETER_AGGREGATE_SUM &&
         c.provenance == TMETER_PROVENANCE_COMPUTED;
}

/// Bytes of the whole model: a peak, the maximum of several polynomials if its place moves.
bool is_peak(const Column& c) {
  return c.axis == TMETER_AXIS_MODEL && c.aggregation == TMETER_AGGREGATE_NONE &&
         c.provenance == TMETER_PROVENANCE_COMPUTED && c.unit_kind == TMETER_UNIT_BYTE;
}

std::optional<int64_t> integer(const tmeter_number& n) {
  if (n.kind == TMETER_NUMBER_INT) return n.i;
  return n.kind == TMETER_NUMBER_ZERO_BY_RULE ? std::optional<int64_t>(0) : std::nullopt;
}

/// One metric of one module; for the root, of the model.
struct OneSeries {
  size_t metric, module;
};

tmeter_number cell_of(const Results& results, const OneSeries& s) {
  const auto& c = results.columns[s.metric];
  return s.module == 0 ? c.cell(TMETER_AXIS_MODEL, 0) : c.cell(TMETER_AXIS_MODULE, s.module);
}

std::vector<size_t> requested_metrics(const FormulaRequest& request, bool (*kind)(const Column&)) {
  std::vector<size_t> out;
  for (size_t i = 0; i < request.results.columns.size(); ++i) {
    const auto& c = request.results.columns[i];
    if (kind(c) && request.includes(c)) out.push_back(i);
  }
  return out;
}

std::vector<OneSeries> sums_of(const Graph& graph, const FormulaRequest& request) {
  const auto metrics = requested_metrics(request, is_sum);
  const bool all = metrics.size() * graph.modules().size() <= kMaxFormulas;
  std::vector<OneSeries> out;
  for (const auto metric : metrics)
    for (size_t m = 0; m < (all ? graph.modules().size() : 1); ++m) out.push_back({metric, m});
  return out;
}

std::vector<OneSeries> peaks_of(const FormulaRequest& request) {
  std::vector<OneSeries> out;
  for (const auto metric : requested_metrics(request, is_peak))
    if (integer(cell_of(request.results, {metric, 0}))) out.push_back({metric, 0});
  return out;
}

/// The series that are fitted.
class FittedSeries {
 public:
  FittedSeries(const FormulaRequest& request, std::vector<OneSeries> list)
      : request_(request), list_(std::move(list)) {
    for (const auto& s : list_) ids_.insert(request.results.columns[s.metric].id);
  }
  const std::vector<OneSeries>& list() const { return list_; }
  bool has(const Column& c) const { return ids_.contains(c.id); }

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
  std::set<std::string_view> ids_;  // ids of the metrics
};

std::vector<size_t> free_symbols(const Graph& graph, const std::set<size_t>& fixed) {
  std::vector<size_t> out;
  for (size_t i = 0; i < graph.symbols().size(); ++i) {
    const auto& s = graph.symbols()[i];
    if (s.min < s.max && !fixed.contains(i)) out.push_back(i);
  }
  return out;
}

/// Adds the symbols in the sizes of `v`.
void add_symbols(const Graph& graph, const Value& v, std::set<size_t>& out) {
  const auto add = [&](ExprId expr) {
    if (expr != 0)
      for (const auto s : graph.expressions().symbols_in(expr)) out.insert(s);
  };
  add(v.expr);
  for (const auto expr : v.dim_exprs) add(expr);
  for (const auto* item : v.items) add_symbols(graph, *item, out);
}

/// Symbols in the sizes of the user's inputs.
std::set<size_t> symbols_of_given_inputs(const Graph& graph) {
  std::set<size_t> out;
  for (const auto& input : graph.inputs())
    if (input.origin == "given") add_symbols(graph, *input.value, out);
  return out;
}

/// The model at other sizes, for which metrics are computed again.
class ResizedRuns {
 public:
  ResizedRuns(Graph& graph, std::vector<size_t> symbols, const FormulaRequest& request)
      : request_(request),
        symbols_(std::move(symbols)),
        log_(-1),  // the first run has logged all messages
        engine_(graph, request.plugins, log_, request.hardware),
        sizes_(graph) {
    for (const auto i : symbols_) {
      const auto& s = graph.symbols()[i];
      ranges_.push_back({s.min, s.max, s.value});
    }
  }

  std::vector<std::optional<Polynomial>> fit(const FittedSeries& sums) {
    return fit_polynomials(ranges_, function(sums));
  }

  /// The pieces of each peak. One run at a point serves all of them.
  std::vector<Pieces> fit_pieces_of(const FittedSeries& peaks) {
    const auto together = function(peaks);
    std::map<std::vector<int64_t>, Fittable::Values> cache;
    const auto values_at = [&](Fittable::Point point) -> const Fittable::Values& {
      const auto [at, is_new] = cache.try_emplace({point.begin(), point.end()});
      if (!is_new) return at->second;
      if (auto values = together.evaluate(point)) return at->second = std::move(*values);
      // A series that exceeds 63 bits does not affect the others.
      for (const auto& s : peaks.list()) at->second.push_back(alone(s, point));
      return at->second;
    };
    std::vector<Pieces> out;
    for (size_t s = 0; s < peaks.list().size(); ++s)
      out.push_back(fit_pieces(ranges_, {1, together.possible, [&, s](Fittable::Point point) {
                                           return std::optional(
                                               Fittable::Values{values_at(point)[s]});
                                         }}));
    return out;
  }

 private:
  std::optional<int64_t> alone(const OneSeries& s, Fittable::Point point) {
    const FittedSeries one(request_, {s});
    const auto values = function(one).evaluate(point);
    return values ? values->front() : std::nullopt;
  }

  /// Borrows `series` and `this`.
  Fittable function(const FittedSeries& series) {
    Fittable f;
    f.series = series.list().size();
    f.possible = [this](Fittable::Point point) {
      for (size_t i = 0; i < symbols_.size(); ++i) sizes_.set(symbols_[i], point[i]);
      return sizes_.try_apply();
    };
    f.evaluate = [this, &series,
                  possible = f.possible](Fittable::Point point) -> std::optional<Fittable::Values> {
      if (!possible(point)) return std::nullopt;
      try {
        return series.values(engine_.run_nodes([&](const Column& c) { return series.has(c); }));
      } catch (const Error&) {
        return std::nullopt;  // a sum that exceeds 63 bits, a shape that an operator refuses
      }
    };
    return f;
  }

  const FormulaRequest& request_;
  std::vector<size_t> symbols_;
  std::vector<SizeRange> ranges_;
  CallLog log_;
  Engine engine_;
  SizeOverrides sizes_;
};

}  // namespace

Formulas find_formulas(Graph& graph, const FormulaRequest& request) {
  Formulas out;
  auto symbols = free_symbols(graph, request.fixed);
  if (symbols.size() > kMaxSizes) {  // sizes given by the user are left out first
    const auto given = symbols_of_given_inputs(graph);
    std::erase_if(symbols, [&](size_t s) { return given.contains(s); });
  }
  const FittedSeries series(request, sums_of(graph, request)), peaks(request, peaks_of(request));
  if (symbols.empty() || (series.list().empty() && peaks.list().empty())) return out;
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
  ResizedRuns runs(graph, symbols, request);
  auto fitted = runs.fit(series);
  const auto recorded = series.values(request.results);
  for (size_t s = 0; s < fitted.size(); ++s) {
    const auto [metric, module] = series.list()[s];
    auto& p = fitted[s];
    if (!p || p->terms.empty() || !recorded[s] || p->at(here) != recorded[s]) continue;
    auto text = p->text(names);
    const bool partial = is_partial(cell_of(request.results, series.list()[s]));
    out.list.push_back({metric, module, partial, std::move(*p), std::move(text)});
  }
  auto pieces = runs.fit_pieces_of(peaks);
  for (size_t s = 0; s < pieces.size(); ++s) {
    const auto& peak = peaks.list()[s];
    // One of several is a lower bound; the largest is the peak.
    const bool partial =
        !pieces[s].whole || pieces[s].list.size() > 1 || is_partial(cell_of(request.results, peak));
    for (auto& piece : pieces[s].list) {
      auto text = piece.text(names);
      out.list.push_back({peak.metric, 0, partial, std::move(piece), std::move(text)});
    }
  }
  std::ranges::stable_sort(out.list, {}, &Formula::metric);
  return out;
}

}  // namespace tmeter::core
