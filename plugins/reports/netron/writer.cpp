#include "writer.hpp"

#include <algorithm>
#include <map>

#include "../common/cells.hpp"
#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "../common/json_stream.hpp"
#include "plugins/common/wording.hpp"

namespace netron_report {
namespace {

using reports::JsonStream;
using tmeter::Cell;
using tmeter::Metric;
using tmeter::Report;

class Writer {
 public:
  Writer(const Report& report, tmeter::Output& out)
      : report_(report),
        graph_(report.graph()),
        metrics_(reports::chosen_metrics(report, [](const Metric& m) { return !m.detail(); })),
        names_(metric_names()),
        stream_(out) {}

  void write() {
    stream_.open('{');
    stream_.member("signature").text("netron:attachment");
    stream_.member("metadata").open('[');
    metadata();
    stream_.end_line(reports::kMemberIndent).close(']');
    stream_.member("metrics").open('[');
    totals();
    nodes();
    if (graph_.nodes().size() == 0) modules();
    tensors();
    stream_.end_line(reports::kMemberIndent).close(']');
    stream_.end_line(0).close('}').finish();
  }

 private:
  // Netron keeps one entry per name, so metrics with the same title are named by their ids.
  std::vector<std::string> metric_names() const {
    std::map<std::string_view, int> uses;
    for (const auto& m : metrics_) ++uses[m.title()];
    std::vector<std::string> names;
    for (const auto& m : metrics_) names.emplace_back(uses[m.title()] == 1 ? m.title() : m.id());
    return names;
  }

  void entry(std::string_view kind, std::string_view target, std::string_view name,
             const std::string& value) {
    if (target.find('\n') != target.npos) return;  // Netron reads only the first line of a name
    stream_.line(reports::kItemIndent).open('{');
    stream_.key("kind").text(kind).key("target").text(target);
    stream_.key("name").text(name).key("value").text(value).close('}');
  }

  void metadata() {
    entry("model", "", "tmeter", std::string(report_.property("tool.version")));
    if (const auto sizes = report_.property("sizes"); !sizes.empty())
      entry("model", "", "sizes", std::string(sizes));
    for (size_t i = 0; i < metrics_.size(); ++i)
      entry("model", "", names_[i] + " counts", std::string(metrics_[i].convention()));
    if (const auto text = reports::describe_coverage(report_); !text.empty())
      entry("model", "", "coverage", text);
    entry("model", "", "signs", std::string(reports::kLegend));
    for (const auto& node : graph_.nodes())
      if (!node.name().empty() && node.call() && !node.call().module().path().empty())
        entry(kind_of(node), node.name(), "module", std::string(node.call().module().path()));
  }

  // "118,013,952 (2.9 % of the model)"
  void value_entry(std::string_view kind, std::string_view target, size_t metric,
                   const Cell& cell) {
    if (cell.empty()) return;
    auto text = reports::shown_in_full(cell, metrics_[metric]);
    const double whole = report_.total(metrics_[metric]).real();
    const bool share = metrics_[metric].aggregation() == TMETER_AGGREGATE_SUM && kind != "model" &&
                       whole > 0 && cell.known() && cell.real() > 0;
    if (share) text += " (" + plugins::percent(cell.real() / whole) + " of the model)";
    entry(kind, target, names_[metric], text);
  }

  void totals() {
    for (size_t i = 0; i < metrics_.size(); ++i)
      value_entry("model", "", i, report_.total(metrics_[i]));
  }

  // Netron invents a name for a node with several results; the results keep their names of the
  // file.
  static std::string_view kind_of(const tmeter::Node& node) {
    return node.result_count() == 1 && node.result(0).is_tensor() ? "node" : "value";
  }

  void nodes() {
    for (const auto& node : graph_.nodes()) {
      if (node.name().empty()) continue;
      for (size_t i = 0; i < metrics_.size(); ++i)
        value_entry(kind_of(node), node.name(), i, report_.cell(metrics_[i], node));
    }
  }

  void modules() {
    for (const auto& module : graph_.modules())
      if (!module.path().empty())
        for (size_t i = 0; i < metrics_.size(); ++i)
          value_entry("node", module.path(), i, reports::module_cell(report_, metrics_[i], module));
  }

  void tensors() {
    for (const auto& tensor : graph_.tensors())
      for (size_t i = 0; i < metrics_.size(); ++i)
        value_entry("tensor", tensor.name(), i, report_.cell(metrics_[i], tensor));
  }

  const Report& report_;
  const tmeter::Graph graph_;
  const std::vector<Metric> metrics_;
  const std::vector<std::string> names_;
  JsonStream stream_;
};

}  // namespace

void write(const Report& report, tmeter::Output& out) { Writer(report, out).write(); }

}  // namespace netron_report
