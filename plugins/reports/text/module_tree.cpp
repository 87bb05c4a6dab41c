#include <algorithm>
#include <tmeter/cpp/module_ids.hpp>

#include "../common/figures.hpp"
#include "fold.hpp"
#include "trees.hpp"

namespace text_report {
namespace {

using tmeter::Graph;
using tmeter::Module;
using tmeter::Report;

constexpr size_t kRowsAtOnce = 48;  // about one screen, with header and footer

// What of the whole graph a row needs to know.
class ModuleFacts {
 public:
  ModuleFacts(const Report& report, const Columns& columns)
      : ids_(tmeter::module_ids(report.graph())) {
    const Graph graph = report.graph();
    const size_t n = ids_.size();
    level_.assign(n, 0);
    called_.assign(n, graph.nodes().size() == 0);  // without a recording nothing is ever called
    tied_.assign(n, false);
    find_levels(graph);
    find_calls(graph);
    find_ties(graph);
    for (const auto& m : graph.modules())
      for (const auto& metric : columns.shown) {
        const auto cell = reports::module_figure(report, metric, m);
        partial_ = partial_ || cell.partial();
        in_module_ = in_module_ || cell.in_module();
      }
  }

  const std::string& id(const Module& m) const { return ids_[m.index()]; }
  bool called(const Module& m) const { return called_[m.index()]; }
  bool tied(const Module& m) const { return tied_[m.index()]; }
  bool any_partial() const { return partial_; }
  bool any_in_module() const { return in_module_; }
  const std::vector<size_t>& modules_per_level() const { return per_level_; }

 private:
  void find_levels(const Graph& graph) {
    for (const auto& m : graph.modules()) {
      const size_t level = m.parent() ? level_[m.parent().index()] + 1 : 0;
      level_[m.index()] = level;
      if (per_level_.size() <= level) per_level_.resize(level + 1);
      ++per_level_[level];
    }
  }
  // A container such as ModuleList is never called itself, but what is in it is.
  void find_calls(const Graph& graph) {
    const auto modules = graph.modules();
    for (size_t i = modules.size(); i-- > 0;) {
      if (modules[i].calls() > 0) called_[i] = true;
      if (called_[i] && modules[i].parent()) called_[modules[i].parent().index()] = true;
    }
  }
  void find_ties(const Graph& graph) {
    for (const auto& t : graph.tensors()) {
      if (!t.is_tied()) continue;
      for (const auto& owner : {t.owner(), t.canonical().owner()})
        if (owner) tied_[owner.index()] = true;
    }
  }
  std::vector<std::string> ids_;
  std::vector<size_t> level_, per_level_;
  std::vector<bool> called_, tied_;
  bool partial_ = false, in_module_ = false;
};

/// Whether a level could fit a screen once repeats are folded; it spares building huge levels.
bool fits_screen(const std::vector<size_t>& per_level, size_t level) {
  constexpr size_t kMostModules = 2'000;
  return per_level[level] <= kMostModules;
}

std::string note_of(const Module& m, const ModuleFacts& facts) {
  std::string note;
  if (m.calls() > 1) note += "×" + std::to_string(m.calls());
  if (m.calls() == 0 && !facts.called(m)) note += "×0";
  if (facts.tied(m)) note += "†";
  return note;
}

std::vector<std::string> legend(const Graph& graph, const ModuleFacts& facts) {
  size_t reused = 0, unused = 0;
  for (const auto& m : graph.modules()) {
    reused += m.calls() > 1;
    unused += !facts.called(m);
  }
  std::vector<std::string> lines;
  if (facts.any_partial()) lines.emplace_back(kLowerBound);
  if (facts.any_in_module()) lines.emplace_back(kInModule);
  const auto modules = [](size_t n) {
    return std::to_string(n) + (n == 1 ? " module is" : " modules are");
  };
  if (reused)
    lines.push_back("×n: " + modules(reused) + " called more than once; figures are of all calls");
  if (unused) lines.push_back("×0: " + modules(unused) + " not called");
  return lines;
}

class Builder {
 public:
  Builder(const Report& report, const Columns& columns, const ModuleFacts& facts, const View& view)
      : report_(report),
        columns_(columns),
        facts_(facts),
        repr_(view.repr),
        fold_(view.fold && !columns.sort) {}

  Branch branch(const Module& m, size_t levels) const {
    Branch b{facts_.id(m),
             std::string(m.name()),
             note_of(m, facts_),
             std::string(repr_ ? report_.module_text(m) : m.type()),
             {},
             {}};
    b.module = m.index();
    for (const auto& metric : columns_.cells)
      b.cells.push_back(reports::module_figure(report_, metric, m));
    for (const auto& key : columns_.facts_of_modules) b.facts.emplace_back(report_.fact(m, key));
    for (size_t i = 0; levels > 0 && i < m.child_count(); ++i)
      b.children.push_back(branch(m.child(i), levels - 1));
    if (fold_) fold_repeats(report_, m, columns_, b.children);
    return b;
  }

 private:
  const Report& report_;
  const Columns& columns_;
  const ModuleFacts& facts_;
  bool repr_;
  bool fold_;  // sorted rows are in no order in which a run could be seen
};

size_t count_rows(const Branch& branch) {
  size_t rows = 1;
  for (const auto& child : branch.children) rows += count_rows(child);
  return rows;
}

}  // namespace

Tree module_tree(const Report& report, const Columns& columns, const View& view) {
  const ModuleFacts facts(report, columns);
  const auto& per_level = facts.modules_per_level();
  const Builder builder(report, columns, facts, view);
  Tree tree;
  tree.deepest = per_level.empty() ? 0 : per_level.size() - 1;
  const auto most = std::min(tree.deepest, view.deepest.value_or(tree.deepest));
  tree.depth = std::min(view.depth ? *view.depth : std::min<size_t>(1, most), tree.deepest);
  if (report.graph().modules().size() > 0) {
    const auto root = report.graph().root();
    tree.root = builder.branch(root, tree.depth);
    while (!view.depth && tree.depth < most && fits_screen(per_level, tree.depth + 1)) {
      auto deeper = builder.branch(root, tree.depth + 1);
      if (count_rows(deeper) > kRowsAtOnce + 1) break;
      tree.root = std::move(deeper);
      ++tree.depth;
    }
  }
  for (size_t level = tree.depth + 1; level < per_level.size(); ++level)
    tree.hidden += per_level[level];
  tree.legend = legend(report.graph(), facts);
  tree.root.label = model_name(report);
  tree.root.type.clear();
  if (columns.sort) sort_children(tree.root, *columns.sort, tree.depth);
  return tree;
}

}  // namespace text_report
