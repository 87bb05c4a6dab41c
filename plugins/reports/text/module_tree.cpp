#include <algorithm>
#include <unordered_set>
#include <utility>

#include "../common/cells.hpp"
#include "../common/columns.hpp"
#include "paragraphs.hpp"
#include "plugins/common/uses.hpp"
#include "tree.hpp"

namespace text_report {
namespace {

using tmeter::Graph;
using tmeter::Module;
using tmeter::Report;

constexpr size_t kRowsAtOnce = 48;  // about one screen, with header and footer

// Properties of modules that rows need, read from the graph once: large graphs have many modules.
class ModuleFacts {
 public:
  ModuleFacts(const Report& report, const Columns& columns)
      : chosen_(reports::chosen_modules(report)) {
    const Graph graph = report.graph();
    const size_t n = graph.modules().size();
    calls_.reserve(n);
    parents_.reserve(n);
    called_.assign(n, graph.nodes().size() == 0);  // without a graph no module has calls
    holds_.assign(n, false);
    tied_.assign(n, false);
    find_levels(graph);
    find_calls();
    find_held(graph);
    find_ties(graph);
    for (const auto& metric : columns.shown) find_marks(report, metric);
  }

  /// An operator ran in the module or used a tensor of it.
  bool called(const Module& m) const { return called_[m.index()]; }
  /// Whether a module has neither operators nor tensors: identities, dropout without exported
  /// operators.
  bool bare(const Module& m) const { return !called_[m.index()] && !holds_[m.index()]; }
  bool tied(const Module& m) const { return tied_[m.index()]; }
  /// Whether `--only` keeps the module.
  bool chosen(const Module& m) const { return chosen_[m.index()]; }
  size_t not_chosen() const {
    return static_cast<size_t>(std::count(chosen_.begin(), chosen_.end(), false));
  }
  bool any_partial() const { return partial_; }
  bool any_assumed() const { return assumed_; }
  bool any_in_module() const { return in_module_; }
  size_t reused() const { return reused_; }
  size_t unused() const {
    size_t n = 0;
    for (size_t i = 0; i < called_.size(); ++i) n += !called_[i] && holds_[i];
    return n;
  }
  const std::vector<size_t>& modules_per_level() const { return per_level_; }
  std::vector<tmeter::Tensor> take_ties() { return std::move(ties_); }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  void find_levels(const Graph& graph) {
    std::vector<size_t> levels;
    levels.reserve(graph.modules().size());
    for (const auto& m : graph.modules()) {
      const auto parent = m.parent();
      parents_.push_back(parent ? parent.index() : kNone);
      levels.push_back(parent ? levels[parents_.back()] + 1 : 0);
      if (per_level_.size() <= levels.back()) per_level_.resize(levels.back() + 1);
      per_level_[levels.back()] += chosen_[m.index()];
      const size_t calls = m.calls();
      calls_.push_back(calls > 0);
      reused_ += calls > 1;
    }
  }
  // A container such as ModuleList is never called itself; its children are.
  void find_calls() {
    for (size_t i = parents_.size(); i-- > 0;) {
      if (calls_[i]) called_[i] = true;
      if (called_[i] && parents_[i] != kNone) called_[parents_[i]] = true;
    }
  }
  /// The modules that hold tensors, themselves or inside. A module without calls counts as called
  /// if operators of other modules read its tensors, as attention reads its projections.
  void find_held(const Graph& graph) {
    const auto mark = [this](std::vector<bool>& marks, Module m) {
      for (size_t i = m ? m.index() : kNone; i != kNone && !marks[i]; i = parents_[i])
        marks[i] = true;
    };
    for (const auto& t : graph.tensors()) mark(holds_, t.owner());
    if (unused() == 0) return;
    std::unordered_set<size_t> read;
    for (const auto& node : graph.nodes())
      plugins::for_each_input(node, [&](const tmeter::Value& value) {
        if (value.tensor()) read.insert(value.tensor().canonical().index());
      });
    for (const auto& t : graph.tensors())
      if (read.contains(t.canonical().index())) mark(called_, t.owner());
  }
  void find_ties(const Graph& graph) {
    ties_ = tied_tensors(graph);
    for (const auto& t : ties_)
      for (const auto& owner : {t.owner(), t.canonical().owner()})
        if (owner) tied_[owner.index()] = true;
  }
  void find_marks(const Report& report, const tmeter::Metric& metric) {
    for (size_t i = 0; i < parents_.size() && !(partial_ && in_module_ && assumed_); ++i) {
      const auto cell = i == 0 ? report.total(metric) : report.cell(metric, TMETER_AXIS_MODULE, i);
      partial_ = partial_ || cell.partial();
      assumed_ = assumed_ || cell.assumed();
      in_module_ = in_module_ || cell.in_module();
    }
  }

  std::vector<size_t> parents_, per_level_;
  std::vector<bool> chosen_, calls_, called_, holds_, tied_;
  std::vector<tmeter::Tensor> ties_;
  size_t reused_ = 0;
  bool partial_ = false, assumed_ = false, in_module_ = false;
};

/// Whether a level could fit on a screen with repeats folded; avoids building huge levels.
bool fits_screen(const std::vector<size_t>& per_level, size_t level) {
  constexpr size_t kMaxModules = 2'000;
  return per_level[level] <= kMaxModules;
}

std::string note_of(const Module& m, const ModuleFacts& facts) {
  std::string note;
  if (m.calls() > 1) note += "×" + std::to_string(m.calls());
  if (m.calls() == 0 && !facts.called(m)) note += "×0";
  if (facts.tied(m)) note += "†";
  return note;
}

std::vector<std::string> legend(const ModuleFacts& facts) {
  const size_t reused = facts.reused(), unused = facts.unused();
  std::vector<std::string> lines;
  if (facts.any_partial()) lines.emplace_back(kLowerBound);
  if (facts.any_assumed()) lines.emplace_back(kAssumed);
  if (facts.any_in_module()) lines.emplace_back(kInModule);
  const auto modules = [](size_t n) {
    return std::to_string(n) + (n == 1 ? " module is" : " modules are");
  };
  if (reused)
    lines.push_back("×n: " + modules(reused) + " called more than once; values are of all calls");
  if (unused) lines.push_back("×0: " + modules(unused) + " not called");
  if (const size_t n = facts.not_chosen())
    lines.push_back(modules(n) + " without trainable parameters and left out (--only trainable)");
  return lines;
}

class Builder {
 public:
  Builder(const Report& report, const Columns& columns, const ModuleFacts& facts, const View& view)
      : report_(report),
        columns_(columns),
        facts_(facts),
        repr_(view.repr),
        all_(!view.fold),
        fold_(view.fold && !columns.sort),
        fold_from_(view.fold_from) {}

  /// `id`: as tmeter::module_ids has it.
  Branch branch(const Module& m, size_t levels, const std::string& id = "0") const {
    Branch b{id,
             std::string(m.name()),
             note_of(m, facts_),
             std::string(repr_ ? report_.module_text(m) : m.type()),
             {},
             {}};
    b.module = m.index();
    for (const auto& metric : columns_.cells)
      b.cells.push_back(reports::module_cell(report_, metric, m));
    for (const auto& key : columns_.facts_of_modules) b.facts.emplace_back(report_.fact(m, key));
    const auto prefix = b.module == 0 ? std::string() : id + ".";
    for (size_t i = 0; levels > 0 && i < m.child_count(); ++i)
      if (facts_.chosen(m.child(i)) && (all_ || !facts_.bare(m.child(i))))
        b.children.push_back(branch(m.child(i), levels - 1, prefix + std::to_string(i + 1)));
    if (fold_) fold_repeats(report_, columns_, fold_from_, b.children);
    return b;
  }

 private:
  const Report& report_;
  const Columns& columns_;
  const ModuleFacts& facts_;
  bool repr_;
  bool all_;   // also rows of modules without operators and tensors
  bool fold_;  // not with sorted rows, because sorting separates runs
  size_t fold_from_;
};

size_t count_rows(const Branch& branch) {
  size_t rows = 1;
  for (const auto& child : branch.children) rows += count_rows(child);
  return rows;
}

}  // namespace

Tree module_tree(const Report& report, const Columns& columns, const View& view) {
  ModuleFacts facts(report, columns);
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
  tree.legend = legend(facts);
  tree.ties = facts.take_ties();
  tree.root.label = model_name(report);
  tree.root.type.clear();
  if (columns.sort) sort_children(tree.root, *columns.sort, tree.depth);
  return tree;
}

}  // namespace text_report
