#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tmeter/cpp/units.hpp>

#include "../common/describe.hpp"
#include "columns.hpp"
#include "tables.hpp"

namespace text_report {
namespace {

using tmeter::Report;
using tmeter::Tensor;

constexpr size_t kRowsShown = 20, kRowsOfSummary = 5;
constexpr size_t kSparklineWidth = 16;

/// The first histogram of each tensor.
std::map<size_t, tmeter_distribution> histograms(const Report& report) {
  std::map<size_t, tmeter_distribution> by_tensor;
  for (const auto& d : report.distributions())
    if (d.of.axis == TMETER_AXIS_TENSOR) by_tensor.emplace(d.of.index, d);
  return by_tensor;
}

double sort_key(const Report& report, const std::optional<tmeter::Metric>& metric,
                const Tensor& t) {
  if (!metric) return static_cast<double>(t.numel().value());
  const auto cell = report.cell(*metric, t);
  return cell.known() && !std::isnan(cell.real()) ? cell.real() : -HUGE_VAL;
}

/// Distinct tensors, sorted by falling value of the sort metric.
std::vector<Tensor> ordered(const Report& report, const Columns& columns) {
  std::vector<std::pair<double, Tensor>> keyed;
  std::optional<tmeter::Metric> by;
  if (columns.sort_of_tensors) by = columns.of_tensors[*columns.sort_of_tensors];
  for (const auto& t : report.graph().tensors())
    if (!t.is_tied()) keyed.emplace_back(sort_key(report, by, t), t);
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Tensor> tensors;
  for (const auto& [key, t] : keyed) tensors.push_back(t);
  return tensors;
}

/// Common properties of the rows of one table.
class RowMaker {
 public:
  RowMaker(const Report& report, const Columns& columns, const View& view)
      : report_(report), columns_(columns), raw_(view.raw), histograms_(histograms(report)) {}

  bool has_histograms() const { return !histograms_.empty(); }

  Table::Row model(const std::vector<Tensor>& tensors) const {
    int64_t elements = 0;
    for (const auto& t : tensors) elements += t.numel().value();
    Table::Row row;
    row.strong = true;
    const auto n = tensors.size();
    row.name.add(std::to_string(n) + (n == 1 ? " tensor" : " tensors"), Style::kStrong);
    row.values.push_back(count(elements));
    for (const auto& m : columns_.of_tensors)
      row.values.push_back(shown_value(report_.total(m), m, raw_));
    if (has_histograms()) row.values.push_back({});
    return row;
  }

  Table::Row tensor(const Tensor& t) const {
    Table::Row row;
    row.name.add(t.name());
    row.type = reports::describe(t);
    row.values.push_back(count(t.numel().value()));
    for (const auto& m : columns_.of_tensors)
      row.values.push_back(shown_value(report_.cell(m, t), m, raw_));
    if (has_histograms()) row.values.push_back({histogram(t), "", Style::kBar});
    return row;
  }

 private:
  ShownValue count(int64_t n) const {
    if (raw_) return {std::to_string(n), "", Style::kPlain};
    auto scaled = tmeter::scaled(static_cast<double>(n), TMETER_UNIT_COUNT, "");
    return {std::move(scaled.number), std::move(scaled.unit), Style::kPlain};
  }
  std::string histogram(const Tensor& t) const {
    const auto it = histograms_.find(t.index());
    if (it == histograms_.end()) return {};
    const auto& d = it->second;
    return sparkline({d.counts, d.counts + d.bin_count}, kSparklineWidth);
  }

  const Report& report_;
  const Columns& columns_;
  bool raw_;
  std::map<size_t, tmeter_distribution> histograms_;
};

}  // namespace

std::string sparkline(const std::vector<uint64_t>& counts, size_t width) {
  static constexpr std::array<std::string_view, 9> kBlocks{" ", "▁", "▂", "▃", "▄",
                                                           "▅", "▆", "▇", "█"};
  std::vector<uint64_t> bins(std::min(width, counts.size()));
  for (size_t i = 0; i < counts.size(); ++i) bins[i * bins.size() / counts.size()] += counts[i];
  const auto most = bins.empty() ? 0 : *std::max_element(bins.begin(), bins.end());
  std::string out;
  for (const auto n : bins) {
    const double height = most ? 8.0 * static_cast<double>(n) / static_cast<double>(most) : 0;
    out += kBlocks[n == 0 ? 0 : std::max<size_t>(1, static_cast<size_t>(std::lround(height)))];
  }
  return out;
}

bool has_tensor_table(const Report& report, const Columns& columns, const View& view) {
  if (report.graph().tensors().size() == 0) return false;
  return view.by == By::kTensor || (view.by == By::kModule && !columns.of_tensors.empty());
}

TensorTable tensor_table(const Report& report, const Columns& columns, const View& view) {
  const RowMaker rows(report, columns, view);
  TensorTable out;
  auto& table = out.table;
  table.columns.push_back({"elements", "elements", true, "elements"});
  for (const auto& m : columns.of_tensors)
    table.columns.push_back(
        {column_title(m, view.raw), std::string(m.plugin()), false, std::string(m.id())});
  if (rows.has_histograms())
    table.columns.push_back({"min … max", "histogram", false, "histogram"});

  const auto tensors = ordered(report, columns);
  const size_t most = view.summary ? kRowsOfSummary : kRowsShown;
  const bool all = view.by == By::kTensor || tensors.size() <= most + 1;
  const size_t shown = all ? tensors.size() : most;
  out.hidden = tensors.size() - shown;
  table.rows.push_back(rows.model(tensors));
  for (size_t i = 0; i < shown; ++i) table.rows.push_back(rows.tensor(tensors[i]));
  return out;
}

}  // namespace text_report
