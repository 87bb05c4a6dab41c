#include "core/report_reader/metric_values.hpp"

#include <tmeter/abi/metric.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tmeter/cpp/text_hash.hpp>
#include <tmeter/cpp/vocabulary.hpp>

#include "core/base/text.hpp"

namespace tmeter::core::report_reader {
namespace {

// They take 2.4 GB. A hundred thousand operators with a hundred metrics have ten million.
constexpr size_t kMaxCells = 100'000'000;
constexpr size_t kMaxColumns = 4'096;
constexpr size_t kMaxFormulaSymbols = 64;

Column column_from(const Members& m) {
  Column c;
  c.id = m.at("id").text();
  c.title = m.at("title").text();
  c.unit = m.text("unit");
  c.unit_kind = vocabulary::kUnitKinds.number(m.at("unit_kind").text());
  c.axis = vocabulary::kAxes.number(m.at("axis").text());
  c.aggregation = vocabulary::kAggregations.number(m.at("aggregation").text());
  c.better = vocabulary::kBetter.number(m.at("better").text());
  if (m.at("detail").boolean()) c.flags |= TMETER_METRIC_DETAIL;
  if (const auto tensors = m.find("of_tensors"); tensors && tensors->boolean())
    c.flags |= TMETER_METRIC_TENSORS;
  if (const auto bar = m.text("bar"); bar == "part")
    c.flags |= TMETER_METRIC_PART;
  else if (bar == "capacity")
    c.flags |= TMETER_METRIC_CAPACITY;
  c.convention = m.at("convention").text();
  c.description = m.text("description");
  const auto provenance = m.at("provenance").members();
  c.provenance = vocabulary::kProvenances.number(provenance.at("kind").text());
  c.provenance_text = provenance.text("text");
  c.plugin = m.at("plugin").text();
  return c;
}

tmeter_number plain_value(const Item& value) {
  if (value.is(simdjson::dom::element_type::INT64)) return number(value.integer());
  return number(value.real());
}

std::optional<Members> object_in(Document& document, std::string_view section) {
  if (!document.has(section)) return std::nullopt;
  return document.whole(section).members();
}

}  // namespace

tmeter_number value_of(const Item& value) {
  return value.is_null() ? tmeter_number{} : plain_value(value);
}

void mark(tmeter_number& cell, std::string_view status) {
  using Status = vocabulary::CellStatus;
  switch (static_cast<Status>(vocabulary::kCellStatuses.number(status))) {
    case Status::kZeroByRule:
      cell = number_of_kind(TMETER_NUMBER_ZERO_BY_RULE);
      break;
    case Status::kUnknown:
      cell = number_of_kind(TMETER_NUMBER_UNKNOWN);
      break;
    case Status::kUnavailable:
      cell = number_of_kind(TMETER_NUMBER_UNAVAILABLE);
      break;
    case Status::kInModule:
      cell = number_of_kind(TMETER_NUMBER_IN_MODULE);
      break;
    case Status::kNotFinite:
      cell = number(std::numeric_limits<double>::quiet_NaN());
      break;
    case Status::kLowerBound:
    case Status::kPartial:
      cell.flags |= TMETER_NUMBER_PARTIAL;
      break;
    case Status::kAssumed:
      cell.flags |= TMETER_NUMBER_ASSUMED;
      break;
    case Status::kByModule:
      cell.flags |= TMETER_NUMBER_BY_MODULE;
      break;
    default:  // newer than this tmeter
      break;
  }
}

void mark_infinite(tmeter_number& cell, std::string_view sign) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (cell.kind == TMETER_NUMBER_FLOAT) cell.f = sign == "-inf" ? -kInfinity : kInfinity;
}

MetricValues::MetricValues(Document& document, Results& results) : results_(results) {
  document.rows("metrics", [&](size_t i, const Item& row) {
    if (i >= kMaxColumns) refuse("it has more than 4,096 metrics, tmeter's limit");
    results_.columns.push_back(column_from(row.members()));
  });
  for (size_t i = 0; i < results_.columns.size(); ++i)
    if (!columns_.emplace(results_.columns[i].id, i).second)
      refuse("the metric '" + printable(results_.columns[i].id) + "' occurs twice");
}

size_t MetricValues::column(std::string_view id) const {
  const auto it = columns_.find(id);
  if (it == columns_.end()) refuse("the metric '" + printable(id) + "' is not among its 'metrics'");
  return it->second;
}

void MetricValues::take_cells(size_t count) {
  cells_ += count;
  if (cells_ > kMaxCells) refuse("its values take more than 100,000,000 cells, tmeter's limit");
}

template <class Change>
void MetricValues::change(std::string_view metric, int32_t axis, size_t index, Change&& change) {
  auto& cells = results_.columns[column(metric)].cells[static_cast<size_t>(axis)];
  if (cells.size() <= index) {
    take_cells(index + 1 - cells.size());
    cells.resize(index + 1);
  }
  auto cell = cells[index];
  change(cell);
  cells.set(index, cell);
}

void MetricValues::row(const Members& row, int32_t axis, size_t index) {
  const auto values = row.find("values");
  if (!values) return;
  for (const auto field : values->members().object())
    change(field.key, axis, index,
           [&](auto& cell) { cell = value_of(Item(field.value, field.key)); });
  for (const auto status : vocabulary::kCellStatuses.words) {
    const auto marked = row.find(status);
    if (!marked) continue;
    for (const auto id : marked->list())
      change(Item(id, status).text(), axis, index, [&](auto& cell) { mark(cell, status); });
  }
  if (const auto infinite = row.find("infinite"))
    for (const auto field : infinite->members().object())
      change(field.key, axis, index,
             [&](auto& cell) { mark_infinite(cell, Item(field.value, field.key).text()); });
}

void MetricValues::totals(Document& document) {
  const auto total = [&](std::string_view id, auto&& what) {
    change(id, TMETER_AXIS_MODEL, 0, what);
  };
  for (const auto field : document.whole("totals").members().object())
    total(field.key, [&](auto& cell) { cell = value_of(Item(field.value, field.key)); });
  if (const auto status = object_in(document, "totals_status"))
    for (const auto field : status->object())
      total(field.key, [&](auto& cell) { mark(cell, Item(field.value, field.key).text()); });
  if (const auto infinite = object_in(document, "totals_infinite"))
    for (const auto field : infinite->object())
      total(field.key,
            [&](auto& cell) { mark_infinite(cell, Item(field.value, field.key).text()); });
}

void MetricValues::coverage(Document& document) {
  if (!document.has("coverage")) return;
  const auto m = document.whole("coverage").members();
  auto& c = results_.coverage;
  c.metric = m.at("metric").text();
  c.counted = m.at("counted").natural();
  c.zero_by_rule = m.at("zero_by_rule").natural();
  c.unknown = m.at("unknown").natural();
  constexpr uint64_t kMaxExactInteger = uint64_t{1} << 53;
  if (std::max({c.counted, c.zero_by_rule, c.unknown}) > kMaxExactInteger)
    refuse("coverage: the numbers of operators are too large");
  for (const auto op : m.at("unknown_ops").list()) {
    const auto row = Item(op, "unknown_ops").members();
    c.unknown_ops.push_back({std::string(row.at("op").text()), row.at("count").natural()});
  }
}

namespace {

class SymbolNames {
 public:
  explicit SymbolNames(const Graph& graph) {
    for (size_t i = 0; i < graph.symbols().size(); ++i) at_.try_emplace(graph.symbols()[i].name, i);
  }
  size_t operator[](std::string_view name) const {
    const auto it = at_.find(name);
    if (it == at_.end()) refuse("the symbol '" + printable(name) + "' is not among its 'symbols'");
    return it->second;
  }

 private:
  std::unordered_map<std::string_view, size_t, TextHash> at_;
};

std::vector<int64_t> integers(const Item& list) {
  std::vector<int64_t> out;
  for (const auto e : list.list()) out.push_back(Item(e, list.name()).integer());
  return out;
}

}  // namespace

void MetricValues::sweep(Document& document, const Graph& graph, Sweep& sweep) {
  if (!document.has("sweep")) return;
  const auto m = document.whole("sweep").members();
  const SymbolNames names(graph);
  for (const auto name : m.at("symbols").list())
    sweep.symbols.push_back(static_cast<int64_t>(names[Item(name, "symbols").text()]));
  if (sweep.symbols.empty() || sweep.symbols.size() > 2)
    refuse("sweep: one or two symbols are expected");
  for (const auto point : m.at("points").list()) {
    sweep.points.push_back(integers(Item(point, "points")));
    if (sweep.points.back().size() != sweep.symbols.size())
      refuse("sweep: a point must have one value for each symbol");
    if (sweep.points.size() > kMaxSweepPoints) refuse("sweep: it has more than 10,000 points");
  }
  take_cells(sweep.points.size() * column_count());
  sweep.totals.assign(sweep.points.size(), std::vector<tmeter_number>(column_count()));
  // A list has as many items as there are points; each goes to one cell.
  const auto for_each_cell = [&](const Item& list, auto&& put) {
    const auto items = list.list();
    const auto c = column(list.name());
    if (items.size() != sweep.points.size())
      refuse("sweep: '" + printable(list.name()) + "' must have one item for each point");
    size_t p = 0;
    for (const auto item : items) put(sweep.totals[p++][c], Item(item, list.name()));
  };
  for (const auto field : m.at("totals").members().object())
    for_each_cell({field.value, field.key},
                  [](tmeter_number& cell, const Item& value) { cell = value_of(value); });
  for (const auto field : m.at("totals_status").members().object())
    for_each_cell({field.value, field.key}, [](tmeter_number& cell, const Item& status) {
      if (!status.is_null()) mark(cell, status.text());
    });
}

namespace {

/// A formula whose powers are still by symbol of the graph.
struct RawFormula {
  Formula formula;
  std::vector<std::vector<std::pair<size_t, int64_t>>> powers;  // by term
};

RawFormula raw_formula(const Members& m, const SymbolNames& symbols) {
  RawFormula raw;
  raw.formula.text = m.at("text").text();
  if (const auto partial = m.find("partial")) raw.formula.partial = partial->boolean();
  for (const auto t : m.at("terms").list()) {
    const auto term = Item(t, "terms").members();
    const auto denominator = term.find("denominator");
    raw.formula.polynomial.terms.push_back(
        {term.at("coefficient").integer(), denominator ? denominator->integer() : 1, {}});
    if (raw.formula.polynomial.terms.back().denominator < 1)
      refuse("a denominator must be positive");
    auto& powers = raw.powers.emplace_back();
    for (const auto field : term.at("powers").members().object()) {
      powers.emplace_back(symbols[field.key], Item(field.value, "powers").integer());
      if (powers.back().second < 1) refuse("a power must be positive");
    }
  }
  return raw;
}

}  // namespace

void MetricValues::formulas(Document& document, const Graph& graph, Formulas& formulas) {
  std::vector<RawFormula> list;
  std::set<size_t> used;
  const SymbolNames symbols(graph);
  std::unordered_map<std::string_view, size_t, TextHash> modules;
  for (const auto* m : graph.modules()) modules.try_emplace(m->path, m->index);
  document.rows("formulas", [&](size_t, const Item& row) {
    const auto m = row.members();
    auto raw = raw_formula(m, symbols);
    raw.formula.metric = column(m.at("metric").text());
    const auto module = modules.find(m.at("module").text());
    if (module == modules.end()) refuse("its module is not among its 'modules'");
    raw.formula.module = module->second;
    for (const auto& powers : raw.powers)
      for (const auto& [symbol, power] : powers) used.insert(symbol);
    if (used.size() > kMaxFormulaSymbols) refuse("formulas are of more than 64 symbols");
    list.push_back(std::move(raw));
  });
  for (const auto s : used) formulas.symbols.push_back(static_cast<int64_t>(s));
  const auto place = [&](size_t symbol) {
    return static_cast<size_t>(std::distance(used.begin(), used.find(symbol)));
  };
  for (auto& raw : list) {
    for (size_t t = 0; t < raw.powers.size(); ++t) {
      auto& term = raw.formula.polynomial.terms[t];
      term.powers.assign(used.size(), 0);
      for (const auto& [symbol, power] : raw.powers[t]) term.powers[place(symbol)] = power;
    }
    formulas.list.push_back(std::move(raw.formula));
  }
}

}  // namespace tmeter::core::report_reader
