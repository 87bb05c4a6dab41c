#include "core/analysis/assertion.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tmeter/cpp/units.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

struct Comparison {
  std::string_view text;
  bool less, equal, greater;  // outcomes for which it holds
};
constexpr std::array<Comparison, 7> kComparisons{{{"<=", true, true, false},
                                                  {"<", true, false, false},
                                                  {">=", false, true, true},
                                                  {">", false, false, true},
                                                  {"==", false, true, false},
                                                  {"=", false, true, false},
                                                  {"!=", true, false, true}}};

constexpr std::string_view kChange = "diff.";

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::kUsage, "--assert '" + printable(text) + "': " + why);
}

/// Refuses a text that is not a bound.
[[noreturn]] void refuse_form(const std::string& text, const std::string& why) {
  refuse(text,
         why + "; as in 'macs<=5G', 'module(\"layer4\").macs<1G', 'coverage==100%' or 'fits'");
}

/// Reads the text from the front.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text), rest_(text) {}

  bool take(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// The text up to the first of `ends`, without surrounding spaces.
  std::string until(std::string_view ends) {
    skip_spaces();
    std::string word(rest_.substr(0, rest_.find_first_of(ends)));
    rest_.remove_prefix(word.size());
    while (word.ends_with(' ')) word.pop_back();
    return word;
  }
  std::string quoted() {
    skip_spaces();
    const char quote = rest_.empty() ? ' ' : rest_[0];
    const auto end = rest_.find(quote, 1);
    if ((quote != '"' && quote != '\'') || end == rest_.npos)
      refuse_form(text_, "the module's path belongs in quotes");
    const std::string inside(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return inside;
  }
  std::string operators() {
    skip_spaces();
    const std::string word(rest_.substr(0, rest_.find_first_not_of("<>=!")));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  void skip_spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  const std::string& text_;
  std::string_view rest_;
};

void read_module(Reader& reader, Assertion& a) {
  a.module = reader.quoted();
  if (a.module.starts_with('.')) a.module.erase(0, 1);
  if (!reader.take(")") || !reader.take("."))
    refuse_form(a.text, "after the module's path ').' and a metric are expected");
}

/// Accepts "5 G" for "5G", but not "1 000".
std::string without_spaces(const std::string& text, const std::string& limit) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  for (size_t i = 0; i < limit.size(); ++i) {
    if (limit[i] != ' ') {
      const bool after_space = i > 0 && limit[i - 1] == ' ';
      if (after_space && is_digit(limit[i]) && !out.empty() && is_digit(out.back()))
        refuse(text, "'" + printable(limit) + "' is not a number: it has spaces in it");
      out += limit[i];
    }
  }
  return out;
}

/// Refuses a second bound inside the limit of the first one.
void require_one_bound(const std::string& text, const std::string& limit) {
  if (limit.find_first_of("<>=!&|;") != limit.npos)
    refuse(text, "give several bounds one by one, each with its own --assert");
}

void read_limit(Assertion& a, const std::string& limit) {
  require_one_bound(a.text, limit);
  const auto q = parse_quantity(without_spaces(a.text, limit),
                                kDimensionless | kBytes | kTime | kEnergy | kShare);
  if (!q.problem.empty()) refuse(a.text, q.problem);
  a.limit = q.whole ? number(*q.whole) : number(q.value);
  a.unit = q.dimension;
  a.unit_name = q.unit;
  a.unit_scale = q.scale;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

/// "fit.max_batch", the value max_batch of the plugin fit, is the metric fit_max_batch.
std::string with_plugin(std::string metric) {
  if (const auto dot = metric.find('.'); dot != metric.npos) metric[dot] = '_';
  return metric;
}

/// "fits": the value is 1.
Assertion yes(Assertion a) {
  a.alone = true;
  a.metric = with_plugin(a.metric);
  a.op = "==";
  a.limit = number(int64_t{1});
  return a;
}

struct Order {
  bool less, greater;
};

Order order_of(const tmeter_number& value, const tmeter_number& limit) {
  const bool exact = value.kind != TMETER_NUMBER_FLOAT && limit.kind == TMETER_NUMBER_INT;
  const int64_t whole = value.kind == TMETER_NUMBER_INT ? value.i : 0;
  return {exact ? whole < limit.i : real(value) < real(limit),
          exact ? whole > limit.i : real(value) > real(limit)};
}

const Comparison& comparison(const std::string& op) {
  return *std::find_if(kComparisons.begin(), kComparisons.end(),
                       [&](const auto& k) { return k.text == op; });
}

bool compare(const tmeter_number& value, const std::string& op, const tmeter_number& limit) {
  const auto& c = comparison(op);
  const auto order = order_of(value, limit);
  if (order.less) return c.less;
  return order.greater ? c.greater : !std::isnan(real(value)) && c.equal;
}

/// A partial sum is a lower bound if no summand can be negative.
bool is_lower_bound(const Column& c) {
  const bool can_be_negative = c.unit_kind == TMETER_UNIT_RATIO || c.unit_kind == TMETER_UNIT_OTHER;
  return c.aggregation == TMETER_AGGREGATE_MAX ||
         (c.aggregation == TMETER_AGGREGATE_SUM && !can_be_negative);
}

/// Whether the bound holds for `value` and every larger one.
bool compare_at_least(const tmeter_number& value, const std::string& op,
                      const tmeter_number& limit) {
  const auto& c = comparison(op);
  const auto order = order_of(value, limit);
  if (order.greater) return c.greater;
  const bool equal = !order.less && !std::isnan(real(value));
  return equal && c.equal && c.greater;
}

bool holds(const tmeter_number& value, const Column* column, const Assertion& a) {
  if (!is_known(value) || is_assumed(value)) return false;
  if (!is_partial(value)) return compare(value, a.op, a.limit);
  return column && is_lower_bound(*column) && compare_at_least(value, a.op, a.limit);
}

/// Why a value proves nothing.
std::string reservation(const tmeter_number& n) {
  if (is_assumed(n)) return " under an assumption that a warning names, which proves nothing";
  return is_partial(n) ? " without unknown values" : "";
}

/// Whether a value is neither tiny nor huge in the unit of the limit: four digits show it.
bool suits_unit(double value, const Assertion& a) {
  const auto size = std::abs(value) / a.unit_scale;
  return a.unit == kShare || (!a.unit_name.empty() && size >= 1e-3 && size < 1e4);
}

/// "236.40 ms" for a time beside a limit in ns; empty for a dimension without units of its own.
std::string scaled_text(double value, Dimension dimension) {
  if (dimension == kTime) return scaled(value, TMETER_UNIT_SECOND, "s").text();
  if (dimension == kEnergy) return scaled(value, TMETER_UNIT_JOULE, "J").text();
  if (dimension == kBytes) return scaled(value, TMETER_UNIT_BYTE, "B").text();
  return {};
}

/// "4089184256", "0.0188", "4.089 G" where the limit has a unit, "not known", "812 without
/// unknown values". A rounded number has as many digits as distinguish it from the limit.
std::string plain(const tmeter_number& n, const Assertion& a) {
  if (n.kind == TMETER_NUMBER_UNAVAILABLE) return "not available";
  if (n.kind == TMETER_NUMBER_IN_MODULE) return "included in the value of an enclosing module";
  if (!is_known(n)) return "not known";
  const auto rest = reservation(n);
  const double limit = real(a.limit);
  if (suits_unit(real(n), a))
    return short_number(real(n) / a.unit_scale, limit / a.unit_scale) + " " +
           std::string(a.unit_name) + rest;
  if (const auto text = scaled_text(real(n), a.unit); !text.empty()) return text + rest;
  if (n.kind != TMETER_NUMBER_FLOAT)
    return std::to_string(n.kind == TMETER_NUMBER_INT ? n.i : 0) + rest;
  return short_number(n.f, limit) + rest;
}

void require_yes_or_no(const Assertion& a, const tmeter_number& value) {
  if (!a.alone || !is_known(value) || real(value) == 0 || real(value) == 1) return;
  refuse_form(a.text, "'" + a.metric + "' is " + plain(value, a) +
                          ", not yes (1) or no (0): a comparison and a number are expected");
}

size_t find_module(const Assertion& a, const Graph& graph) {
  const auto& modules = graph.modules();
  std::vector<std::string> paths;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (modules[i]->path == a.module) return i;
    paths.emplace_back(modules[i]->path);
  }
  refuse(a.text, "there is no module '" + printable(a.module) + "'" +
                     (paths.size() < 10'000 ? did_you_mean(a.module, paths) : ""));
}

bool equal_in_any_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// The column with the title "MACs" in any case, if only one has it.
std::optional<size_t> find_by_title(std::string_view title, const std::vector<Column>& columns) {
  std::optional<size_t> found;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!equal_in_any_case(columns[i].title, title)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

std::optional<size_t> column_of(const Assertion& a, const std::vector<Column>& columns) {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].id == a.metric) return i;
  return find_by_title(a.metric, columns);
}

/// Refuses "layer4.macs<1G" and suggests module("layer4").macs.
void require_no_bare_path(const Assertion& a, const Graph& graph) {
  const auto subject = std::string_view(a.text).substr(0, a.text.find_first_of("<>=!"));
  const auto dot = subject.rfind('.');
  if (!a.module.empty() || dot == subject.npos) return;
  const auto path = subject.substr(0, dot);
  for (const auto* m : graph.modules())
    if (!path.empty() && m->path == path)
      refuse(a.text, "a module is written module(\"" + printable(path) + "\")" +
                         printable(subject.substr(dot)));
}

}  // namespace

size_t find_column(const Assertion& a, const Results& results) {
  if (const auto found = column_of(a, results.columns)) return *found;
  std::vector<std::string> names{"coverage", "unknown"};
  for (const auto& c : results.columns) names.push_back(c.id);
  const auto meant = did_you_mean(lower_case(a.metric), names);
  refuse(a.text, "there is no metric '" + printable(a.metric) + "' in this run" +
                     (meant.empty() ? "; `tmeter plugin list` lists those of all plugins" : meant));
}

namespace {

/// The name of a unit's dimension, and the unit kinds that have it; nullptr: all have it.
const char* wrong_dimension(Dimension unit, int32_t kind) {
  if (kind == TMETER_UNIT_OTHER) return nullptr;
  if (unit == kTime && kind != TMETER_UNIT_SECOND) return "a time";
  if (unit == kEnergy && kind != TMETER_UNIT_JOULE) return "an energy";
  if (unit == kShare && kind != TMETER_UNIT_RATIO) return "a share";
  return nullptr;
}

tmeter_number of_operators(const Assertion& a, const Results& results) {
  const auto& coverage = results.coverage;
  if (!a.module.empty()) refuse(a.text, "'" + a.metric + "' is known of the whole model only");
  if (coverage.metric.empty()) {
    // A failed plugin may have the metric, so this is not the user's mistake.
    if (std::any_of(results.columns.begin(), results.columns.end(),
                    [](const Column& c) { return c.failed; }))
      return number_of_kind(TMETER_NUMBER_UNAVAILABLE);
    refuse(a.text, "no loaded plugin states a coverage");
  }
  return a.metric == "unknown" ? number(static_cast<int64_t>(coverage.unknown))
                               : number(coverage.ratio());
}

}  // namespace

void require_unit_of(const Assertion& a, const Column& column) {
  const auto* wrong = a.relative ? nullptr : wrong_dimension(a.unit, column.unit_kind);
  if (wrong)
    refuse(a.text, "the limit is " + std::string(wrong) + ", which '" + a.metric + "' is not" +
                       (a.unit == kShare ? "; the change between two models is 'diff." + a.metric +
                                               "', in `tmeter diff BEFORE AFTER`"
                                         : std::string()));
}

bool is_of_operators(const Assertion& a) { return a.metric == "coverage" || a.metric == "unknown"; }

Assertion parse_assertion(const std::string& text) {
  Reader reader(text);
  Assertion a;
  a.text = text;
  if (reader.take("module(")) read_module(reader, a);
  a.metric = reader.until("<>=!");
  a.op = reader.operators();
  if (a.op.empty() && is_word(a.metric) && !a.metric.starts_with(kChange)) return yes(std::move(a));
  if (a.metric.empty() || a.op.empty())
    refuse_form(text, "METRIC, a comparison and a number are expected");
  if (std::none_of(kComparisons.begin(), kComparisons.end(),
                   [&](const auto& c) { return c.text == a.op; }))
    refuse(text, "unknown comparison '" + a.op + "'; one of <=, <, >=, >, ==, != is expected");
  read_limit(a, reader.until(""));
  a.change = a.metric.starts_with(kChange);
  if (a.change) a.metric.erase(0, kChange.size());
  if (is_word(a.metric)) a.metric = with_plugin(a.metric);
  a.relative = a.change && a.unit == kShare;
  return a;
}

AssertionResult evaluate(const Assertion& a, const Graph& graph, const Results& results) {
  if (a.change)
    refuse(a.text, "a change is between two models: `tmeter diff BEFORE AFTER --assert …`");
  AssertionResult out;
  out.assertion = a;
  out.subject = a.module.empty() ? a.metric : "module(\"" + a.module + "\")." + a.metric;
  if (is_of_operators(a)) {
    out.value = of_operators(a, results);
  } else {
    if (!column_of(a, results.columns)) require_no_bare_path(a, graph);
    out.metric = find_column(a, results);
    require_unit_of(a, results.columns[out.metric]);
    out.module = a.module.empty() ? 0 : find_module(a, graph);
    const auto axis = out.module == 0 ? TMETER_AXIS_MODEL : TMETER_AXIS_MODULE;
    out.value = results.columns[out.metric].cell(axis, out.module);
  }
  require_yes_or_no(a, out.value);
  out.holds = holds(out.value, out.metric == SIZE_MAX ? nullptr : &results.columns[out.metric], a);
  return out;
}

std::string shown_value(const AssertionResult& r) {
  const auto& v = r.value;
  if (!r.assertion.change || !is_known(v)) return plain(v, r.assertion);
  const std::string sign = real(v) > 0 ? "+" : "";
  return sign + plain(v, r.assertion);
}

bool holds(const tmeter_number& value, const Assertion& a) {
  return is_known(value) && !is_partial(value) && !is_assumed(value) &&
         compare(value, a.op, a.limit);
}

void require_all(const std::vector<AssertionResult>& results) {
  std::string broken;
  size_t count = 0;
  for (const auto& r : results) {
    if (r.holds) continue;
    broken += (count++ ? "; '" : "'") + printable(r.assertion.text) + "' (" + printable(r.subject) +
              " is " + shown_value(r) + ")";
  }
  if (count == 0) return;
  const auto all = results.size();
  const auto what =
      all == 1 ? std::string("the assertion does not hold: ")
               : std::to_string(count) + " of " + std::to_string(all) + " assertions do not hold: ";
  throw Error(ErrorKind::kAssertion, what + broken);
}

}  // namespace tmeter::core
