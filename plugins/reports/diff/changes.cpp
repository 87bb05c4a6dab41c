#include "changes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tmeter/cpp/units.hpp>

#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "plugins/common/wording.hpp"

namespace diff_report {
namespace {

using tmeter::Metric;
using tmeter::Module;
using tmeter::Report;

// U+2212, as wide as a plus.
constexpr std::string_view kMinus = "−";

std::string with_sign(std::string text, bool negative, bool zero) {
  if (zero) return text;
  return (negative ? std::string(kMinus) : "+") + text;
}

/// Readable metrics, and metrics of tensors that are not details and have a total.
bool is_shown_by_default(const Report& report, const Metric& metric) {
  return reports::is_readable(report, metric) ||
         (metric.of_tensors() && !metric.detail() && report.total(metric).known());
}

bool is_shown(const Report& report, const Metric& metric) {
  const auto ids = reports::split(report.view("columns"));
  if (ids.empty()) return is_shown_by_default(report, metric);
  return std::any_of(ids.begin(), ids.end(),
                     [&](auto id) { return id == metric.id() || id == "all"; });
}

std::vector<Column> common_columns(const Report& before, const Report& after) {
  for (const auto id : reports::split(after.view("columns")))
    if (id != "all" && id != "none" && !reports::is_fact(id))
      reports::find_metric(after, id, "--columns");
  std::map<std::string_view, Metric> before_metrics;
  for (const auto& m : before.metrics()) before_metrics.emplace(m.id(), m);
  std::vector<Column> columns;
  for (const auto& m : after.metrics()) {
    const auto it = before_metrics.find(m.id());
    if (it != before_metrics.end() && is_shown(after, m)) columns.push_back({it->second, m});
  }
  // Operators of weights files have no values.
  const auto is_nowhere = [&](const Column& c) {
    return before.total(c.before).is_unavailable() && after.total(c.after).is_unavailable();
  };
  if (after.view("columns").empty() && !std::all_of(columns.begin(), columns.end(), is_nowhere))
    std::erase_if(columns, is_nowhere);
  return columns;
}

std::optional<Module> module_of(const Report& report, size_t index) {
  if (index == SIZE_MAX) return std::nullopt;
  return report.graph().modules()[index];
}

tmeter::ComparisonView view_of(const Report& report) {
  const tmeter::ComparisonView view(report.handle());
  if (!view)
    throw tmeter::Error(TMETER_BAD_USAGE,
                        "this format compares two models: `tmeter diff BEFORE AFTER`");
  return view;
}

/// Whether a difference from this value is not a bound.
bool is_uncertain(const Cell& cell) { return cell.partial() || cell.assumed(); }

}  // namespace

bool Change::differs() const {
  if (before.is_int() && after.is_int()) return before.count().value() != after.count().value();
  if (before.known() && after.known()) return before.real() != after.real();
  return before.known() != after.known() || before.empty() != after.empty();
}

std::optional<Cell> Change::difference() const {
  if (!before.known() || !after.known()) return std::nullopt;
  const auto whole = [](const Cell& c) { return c.is_int() ? c.count().value() : 0; };
  const bool counts =
      (before.is_int() || before.is_zero_by_rule()) && (after.is_int() || after.is_zero_by_rule());
  int64_t exact = 0;
  const bool exactly = counts && !__builtin_sub_overflow(whole(after), whole(before), &exact);
  const Cell out = exactly ? Cell(tmeter::Count(exact)) : Cell(after.real() - before.real());
  return is_uncertain(before) || is_uncertain(after) ? out.as_partial() : out;
}

std::optional<double> Change::relative() const {
  const auto d = difference();
  if (!d) return std::nullopt;
  if (d->real() == 0) return 0.0;
  if (before.real() == 0) return std::nullopt;
  return d->real() / std::fabs(before.real());
}

std::string shown_difference(const Change& change, const Metric& metric) {
  const auto d = change.difference();
  if (!d) return "–";
  const double v = d->real();
  const auto text = tmeter::scaled(std::fabs(v), metric.unit_kind(), metric.unit()).text();
  return (is_uncertain(*d) ? "≈" : "") + (v == 0 ? "0" : with_sign(text, v < 0, false));
}

std::string shown_in_row(const Change& change, const Metric& metric) {
  const bool only_after = change.before.empty() && change.after.known();
  return only_after ? reports::shown(change.after, metric) : shown_difference(change, metric);
}

std::string shown_relative(const Change& change) {
  const auto r = change.relative();
  if (!r) return {};
  if (*r == 0) return "0 %";
  const double size = 100 * std::fabs(*r);
  const auto text = size < 0.05 ? tmeter::general(size, 1) : tmeter::fixed(size, 1);
  return with_sign(text + " %", *r < 0, false);
}

namespace {

struct Kind {
  uint32_t flag;
  char sign;
  std::string_view word;
};
constexpr std::array<Kind, 4> kKinds{{{TMETER_PAIR_ADDED, '+', "added"},
                                      {TMETER_PAIR_REMOVED, '-', "removed"},
                                      {TMETER_PAIR_RENAMED, '>', "renamed"},
                                      {TMETER_PAIR_REDEFINED, '~', "redefined"}}};

Kind kind_of(uint32_t flags) {
  for (const auto& k : kKinds)
    if (flags & k.flag) return k;
  return {0, ' ', {}};
}

}  // namespace

char Row::sign() const { return kind_of(pair.flags).sign; }
std::string_view Row::kind() const { return kind_of(pair.flags).word; }

std::string Row::path() const {
  const auto name = [](const Module& m) {
    return m.path().empty() ? std::string("(model)") : std::string(m.path());
  };
  if (!before || !after) return name(before ? *before : *after);
  if (before->path() == after->path()) return name(*after);
  return name(*before) + " → " + name(*after);
}

std::string Row::type() const {
  if (!before || !after) return std::string((before ? *before : *after).type());
  if (before->type() == after->type()) return std::string(after->type());
  return std::string(before->type()) + " → " + std::string(after->type());
}

std::string Row::calls() const {
  if (!before || !after) return reports::calls_mark(before ? *before : *after);
  if (before->calls() == after->calls()) return reports::calls_mark(*after);
  return " (×" + std::to_string(before->calls()) + " → ×" + std::to_string(after->calls()) + ")";
}

Changes::Changes(const Report& report)
    : view_(view_of(report)), before_(view_.before()), after_(report) {
  columns_ = common_columns(before_, after_);
  for (const auto& p : view_.pairs()) {
    ++counts_.all;
    counts_.same += p.flags == 0;
    counts_.added += (p.flags & TMETER_PAIR_ADDED) != 0;
    counts_.removed += (p.flags & TMETER_PAIR_REMOVED) != 0;
    counts_.renamed += (p.flags & TMETER_PAIR_RENAMED) != 0;
    counts_.changed += (p.flags & (TMETER_PAIR_REDEFINED | TMETER_PAIR_FIGURES)) != 0;
  }
}

Change Changes::total(const Column& column) const {
  return {before_.total(column.before), after_.total(column.after)};
}

Row Changes::row(const tmeter_pair& pair) const {
  Row row{pair, module_of(before_, pair.before), module_of(after_, pair.after), {}};
  for (const auto& c : columns_)
    row.changes.push_back(
        {row.before ? reports::module_cell(before_, c.before, *row.before) : Cell(),
         row.after ? reports::module_cell(after_, c.after, *row.after) : Cell()});
  return row;
}

std::vector<tmeter_pair> Changes::differing(size_t most) const {
  std::vector<tmeter_pair> all;
  for (const auto& p : view_.pairs())
    if (p.flags != 0) all.push_back(p);
  size_t depth = SIZE_MAX;
  if (const auto text = after_.view("depth"); !text.empty()) {
    if (text != "all") std::from_chars(text.data(), text.data() + text.size(), depth);
  } else if (all.size() > most) {
    std::map<size_t, size_t> at_depth;
    for (const auto& p : all) ++at_depth[p.depth];
    size_t sum = 0;
    depth = 0;
    for (const auto& [d, n] : at_depth) {
      sum += n;
      if (sum > most) break;
      depth = d;
    }
  }
  std::erase_if(all, [&](const auto& p) { return p.depth > depth; });
  return all;
}

std::string title_of(const Report& report) {
  std::string text(reports::model_name(report));
  text.append("  ").append(report.property("model.file"));
  if (const auto size = reports::file_size(report); !size.empty()) text += " (" + size + ")";
  return text;
}

std::string counts_text(const Counts& c) {
  if (c.same == c.all) return "no difference in " + plugins::count_of(c.all, "module");
  std::string text = std::to_string(c.all - c.same) + " of " + plugins::count_of(c.all, "module") +
                     (c.all - c.same == 1 ? " differs" : " differ");
  std::string more;
  const std::pair<size_t, const char*> kinds[] = {
      {c.added, "added"}, {c.removed, "removed"}, {c.renamed, "renamed"}};
  for (const auto& [n, word] : kinds)
    if (n > 0) more += (more.empty() ? ": " : ", ") + std::to_string(n) + " " + word;
  return text + more;
}

std::string assertion_value(const Changes& changes, const tmeter::AssertionView& a) {
  const auto value = a.value();
  const bool change = a.subject().find("diff.") != a.subject().npos;
  if (!change || !value.known()) return reports::describe_value(changes.after(), a);
  const bool negative = value.real() < 0, zero = value.real() == 0;
  if (a.of_metric()) {
    const auto metric = changes.after().metrics()[a.metric()];
    const auto text =
        value.is_int() && metric.unit_kind() == TMETER_UNIT_COUNT
            ? tmeter::grouped(std::abs(value.count().value()))
            : tmeter::scaled(std::fabs(value.real()), metric.unit_kind(), metric.unit()).text();
    return (is_uncertain(value) ? "≈" : "") + with_sign(text, negative, zero);
  }
  const auto text = value.is_int()
                        ? tmeter::grouped(std::abs(value.count().value()))
                        : tmeter::scaled(std::fabs(value.real()), TMETER_UNIT_RATIO, "").text();
  return (is_uncertain(value) ? "≈" : "") + with_sign(text, negative, zero);
}

}  // namespace diff_report
