#include <algorithm>
#include <set>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/version.hpp"
#include "core/ir/builder.hpp"
#include "core/merging/merging.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMaxModels = 1'000'000;

/// "resnet50" for "reports/resnet50.json": the user's name of the report.
std::string name_of(const std::string& path) {
  auto name = path.substr(path.rfind('/') + 1);
  for (const std::string_view end : {".json", ".tmeter"})
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  return name;
}

/// A column's total over all models: sum or maximum; empty for other aggregations.
class Total {
 public:
  explicit Total(const Column& column) : column_(column) {}
  void add(const tmeter_number& n) {
    if (!is_known(n)) {
      gap_ = gap_ || n.kind != TMETER_NUMBER_NONE;
      missing_ = true;
      return;
    }
    partial_ = partial_ || is_partial(n);
    assumed_ = assumed_ || is_assumed(n);
    const auto value = is_number(n) ? n : number(int64_t{0});
    if (!any_)
      value_ = value;
    else if (column_.aggregation == TMETER_AGGREGATE_MAX)
      value_ = real(value) > real(value_) ? value : value_;
    else
      value_ = sum(value_, value);
    any_ = true;
  }
  tmeter_number result() const {
    if (column_.aggregation != TMETER_AGGREGATE_SUM && column_.aggregation != TMETER_AGGREGATE_MAX)
      return {};
    if (!any_) return gap_ ? number_of_kind(TMETER_NUMBER_UNAVAILABLE) : tmeter_number{};
    auto out = value_;
    if (partial_ || missing_) out.flags = TMETER_NUMBER_PARTIAL;
    if (assumed_) out.flags = TMETER_NUMBER_ASSUMED;
    return out;
  }

 private:
  tmeter_number sum(const tmeter_number& a, const tmeter_number& b) const {
    if (a.kind == TMETER_NUMBER_FLOAT || b.kind == TMETER_NUMBER_FLOAT)
      return number(real(a) + real(b));
    const auto s = checked_add(a.i, b.i);
    if (!s) throw Error(ErrorKind::kModel, "the sum of metric '" + column_.id + "' exceeds 2^63");
    return number(*s);
  }
  const Column& column_;
  tmeter_number value_{};
  bool any_ = false, gap_ = false, missing_ = false, partial_ = false, assumed_ = false;
};

}  // namespace

/// The column of the same metric and convention; SIZE_MAX if that id has another definition.
size_t ModelIndex::column_for(const Column& column, const std::string& path) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].id != column.id) continue;
    if (columns_[i].convention == column.convention && columns_[i].unit == column.unit) return i;
    warnings_.push_back(printable(path) + ": '" + printable(column.id) +
                        "' is counted by another convention than in the reports before, and left "
                        "out: " +
                        printable(column.convention));
    return SIZE_MAX;
  }
  auto& added = columns_.emplace_back(column);
  for (auto& cells : added.cells) cells.clear();
  added.axis = TMETER_AXIS_MODULE;
  added.flags &= ~(uint32_t{TMETER_METRIC_COVERAGE} | TMETER_METRIC_TENSORS);
  if (added.provenance == TMETER_PROVENANCE_UNAVAILABLE) {  // only in that model
    added.provenance = TMETER_PROVENANCE_COMPUTED;
    added.provenance_text.clear();
  }
  return columns_.size() - 1;
}

void ModelIndex::add(const Part& part) {
  if (rows_.size() == kMaxModels)
    throw Error(ErrorKind::kModel, "more than 1,000,000 models; tmeter's limit");
  const auto& report = part.saved.report;
  auto& row = rows_.emplace_back();
  row.name = name_of(part.path);
  row.type = part.saved.graph->modules().front()->type;
  for (const auto& c : report.results.columns) {
    const auto total = c.cell(TMETER_AXIS_MODEL, 0);
    if (total.kind == TMETER_NUMBER_NONE) continue;
    const auto i = column_for(c, part.path);
    if (i == SIZE_MAX) continue;
    if (row.totals.size() <= i) row.totals.resize(i + 1);
    row.totals[i] = total;
  }
  for (const auto& p : report.plugins)
    if (known_plugins_.insert(p).second) plugins_.push_back(p);
}

SavedReport ModelIndex::finish() {
  GraphBuilder builder;
  const auto root = builder.module(0, "", "models");
  std::set<std::string> used;
  for (const auto& row : rows_) {
    auto name = row.name;
    for (int n = 2; !used.insert(name).second; ++n)
      name = row.name + " (" + std::to_string(n) + ")";
    builder.module(root, name, row.type);
  }
  builder.property("format", "index of " + std::to_string(rows_.size()) + " models");
  builder.property("content", "weights");
  SavedReport out;
  out.graph = builder.finish();
  auto& report = out.report;
  report.graph = out.graph.get();
  for (size_t i = 0; i < columns_.size(); ++i) {
    auto& c = columns_[i];
    Total total(c);
    auto& cells = c.cells[TMETER_AXIS_MODULE];
    cells.resize(rows_.size() + 1);
    for (size_t r = 0; r < rows_.size(); ++r) {
      const auto& totals = rows_[r].totals;
      auto value = i < totals.size() ? totals[i] : tmeter_number{};
      value.flags &= TMETER_NUMBER_PARTIAL | TMETER_NUMBER_ASSUMED;
      cells.set(r + 1, value);
      total.add(value);
    }
    cells.set(0, total.result());
    c.cells[TMETER_AXIS_MODEL] = {cells[0]};
  }
  report.results.columns = std::move(columns_);
  report.plugins = std::move(plugins_);
  report.warnings = std::move(warnings_);
  report.properties["tool.version"] = TMETER_VERSION;
  report.properties["model.file"] = std::to_string(rows_.size()) + " models";
  return out;
}

}  // namespace tmeter::core
