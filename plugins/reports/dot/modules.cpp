#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>

#include "../common/cells.hpp"
#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "label.hpp"

namespace dot_report {
namespace {

using tmeter::Cell;
using tmeter::Metric;
using tmeter::Module;
using tmeter::Report;

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

size_t depth_of(const Report& report) {
  const auto text = report.view("depth");
  size_t depth = kNoLimit;
  if (!text.empty() && text != "all")
    std::from_chars(text.data(), text.data() + text.size(), depth);
  return depth;
}

std::vector<Metric> metrics_of(const Look& look) {
  std::vector<Metric> metrics;
  for (const auto& a : look.attributes())
    if (const auto* metric = std::get_if<Metric>(&a)) metrics.push_back(*metric);
  if (look.color_metric()) metrics.push_back(*look.color_metric());
  return metrics;
}

/// Modules in each module, itself included, that are chosen.
std::vector<size_t> tree_sizes(const tmeter::Graph& graph, const std::vector<bool>& chosen) {
  const auto modules = graph.modules();
  std::vector<size_t> sizes(chosen.begin(), chosen.end());
  for (size_t i = modules.size(); i-- > 1;) sizes[modules[i].parent().index()] += sizes[i];
  return sizes;
}

class ModuleGraph {
 public:
  ModuleGraph(const Report& report, const Options& options, reports::Buffer& out)
      : report_(report),
        most_(options.nodes ? options.nodes : kNoLimit),
        fold_(report.view("no-fold").empty()),
        look_(report, options,
              {"type", "text", "kernel_size", "input_size", "output_size", "calls"}, {"type"}),
        metrics_(metrics_of(look_)),
        chosen_(reports::chosen_modules(report)),
        sizes_(tree_sizes(report.graph(), chosen_)),
        out_(out) {}

  // Level by level, so that the deepest modules are left out.
  void write() {
    const auto modules = report_.graph().modules();
    const auto deepest = depth_of(report_);
    std::deque<Place> queue;
    if (modules.size() > 0) queue.push_back({report_.graph().root(), 0});
    while (!queue.empty() && drawn_ < most_) {
      const auto [module, level] = queue.front();
      queue.pop_front();
      node(module);
      if (level < deepest) children(module, level + 1, queue);
    }
    write_caption(report_, look_, (sizes_.empty() ? 0 : sizes_[0]) - drawn_ - folded_, "modules",
                  out_);
  }

 private:
  struct Place {
    Module module;
    size_t level;
  };

  void children(const Module& parent, size_t level, std::deque<Place>& queue) {
    for (size_t i = 0; i < parent.child_count();) {
      const auto run = report_.repeat(parent.child(i));
      const bool folds = fold_ && run && alike(parent, i, run);
      const size_t shown = folds ? run.window : 1, times = folds ? run.times : 1;
      for (size_t k = 0; k < shown; ++k) {
        const auto child = parent.child(i + k);
        if (!chosen_[child.index()]) continue;
        if (drawn_ + queue.size() >= most_) return;
        edge(parent, child, times);
        queue.push_back({child, level});
      }
      for (size_t k = shown; k < shown * times; ++k) folded_ += sizes_[parent.child(i + k).index()];
      i += shown * times;
    }
  }

  // Identical modules may differ in their number of calls and in frozen parameters.
  bool alike(const Module& parent, size_t first, const Report::Repeat& run) const {
    for (size_t i = first + run.window; i < first + run.window * run.times; ++i) {
      if (chosen_[parent.child(i).index()] != chosen_[parent.child(i - run.window).index()])
        return false;
      for (size_t m = 0; m < metrics_.size(); ++m) {
        const auto a = reports::module_cell(report_, metrics_[m], parent.child(i));
        const auto b = reports::module_cell(report_, metrics_[m], parent.child(i - run.window));
        if (reports::shown(a, metrics_[m]) != reports::shown(b, metrics_[m])) return false;
      }
    }
    return true;
  }

  void edge(const Module& parent, const Module& child, size_t times) {
    out_ << "  m" << std::to_string(parent.index()) << " -> m" << std::to_string(child.index());
    if (times > 1) out_ << " [label=\"× " << std::to_string(times) << "\"]";
    out_ << ";\n";
  }

  void node(const Module& module) {
    ++drawn_;
    std::vector<std::string> lines{
        std::string(module.index() == 0 ? reports::model_name(report_) : module.name()) +
        reports::calls_mark(module)};
    for (const auto& a : look_.attributes()) {
      if (const auto* metric = std::get_if<Metric>(&a))
        lines.push_back(Look::line(*metric, reports::module_cell(report_, *metric, module)));
      else if (const auto word = this->word(module, std::get<std::string>(a)); !word.empty())
        lines.push_back(word);
    }
    out_ << "  m" << std::to_string(module.index()) << " [label=" << quoted(lines)
         << " tooltip=" << quoted(module.path());
    if (look_.color_metric() && module.index() > 0)
      out_ << look_.style(reports::module_cell(report_, *look_.color_metric(), module));
    out_ << "];\n";
  }

  std::string word(const Module& module, const std::string& key) const {
    if (key == "type") return module.index() == 0 ? "" : std::string(module.type());
    if (key == "calls") return "calls " + std::to_string(module.calls());
    return std::string(report_.fact(module, key));
  }

  const Report& report_;
  const size_t most_;
  const bool fold_;
  const Look look_;
  const std::vector<Metric> metrics_;  // of the attributes in order, then of the colour
  const std::vector<bool> chosen_;
  const std::vector<size_t> sizes_;
  reports::Buffer& out_;
  size_t drawn_ = 0, folded_ = 0;
};

}  // namespace

void write_modules(const Report& report, const Options& options, reports::Buffer& out) {
  ModuleGraph(report, options, out).write();
}

}  // namespace dot_report
