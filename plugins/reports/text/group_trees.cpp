#include <algorithm>
#include <map>
#include <tmeter/cpp/module_ids.hpp>

#include "../common/groups.hpp"
#include "tree.hpp"

namespace text_report {
namespace {

using reports::cells_of;
using reports::Sums;
using tmeter::Cell;
using tmeter::Report;

// Groups in the order of their first members.
class Groups {
 public:
  struct Group {
    std::string name;
    size_t count = 0;
    Sums sums;
    std::vector<Branch> members;
  };

  explicit Groups(const Columns& columns) : columns_(columns) {}
  Group& operator[](std::string_view name) {
    const auto [it, fresh] = index_.try_emplace(std::string(name), groups_.size());
    if (fresh) groups_.push_back({std::string(name), 0, reports::empty_sums(columns_.cells), {}});
    return groups_[it->second];
  }
  std::vector<Group>& all() { return groups_; }

 private:
  const Columns& columns_;
  std::vector<Group> groups_;
  std::map<std::string, size_t, std::less<>> index_;
};

Branch total_branch(const Report& report, const Columns& columns) {
  Branch root{"", std::string(model_name(report)), "", "", {}, {}};
  for (const auto& metric : columns.cells) root.cells.push_back(report.total(metric));
  return root;
}

Tree make_tree(const Report& report, const Columns& columns, const View& view, Groups& groups) {
  Tree tree;
  tree.deepest = 2;
  tree.depth =
      std::min<size_t>(view.depth ? *view.depth : std::min<size_t>(1, view.deepest.value_or(1)), 2);
  std::vector<Branch> branches;
  for (auto& group : groups.all()) {
    tree.hidden += tree.depth < 2 ? group.count : 0;
    branches.push_back({"", group.name,
                        group.count > 0 ? "×" + std::to_string(group.count) : std::string(), "",
                        cells_of(group.sums), std::move(group.members)});
  }
  tree.root = total_branch(report, columns);
  if (any_partial(tree.root.cells)) tree.legend = {kLowerBound};
  if (any_assumed(tree.root.cells)) tree.legend.emplace_back(kAssumed);
  const auto& all = groups.all();
  if (std::any_of(all.begin(), all.end(),
                  [](const auto& g) { return any_in_module(cells_of(g.sums)); }))
    tree.legend.emplace_back(kInModule);
  tree.hidden += tree.depth < 1 ? branches.size() : 0;
  if (tree.depth >= 1) tree.root.children = std::move(branches);
  // Without --sort, groups are sorted by cost and their members keep the order of the graph.
  if (columns.sort)
    sort_children(tree.root, *columns.sort, tree.depth);
  else if (columns.bar)
    sort_children(tree.root, *columns.bar, 1);
  return tree;
}

bool shows_members(const View& view) { return view.depth.value_or(1) >= 2; }

std::string_view path_of(const tmeter::ModuleCall& call) {
  const bool root = !call || call.module().index() == 0;
  return root ? "(root)" : call.module().path();
}

// "torch.nn.modules.conv.Conv2d" is shown as "Conv2d" unless another type has this name.
void shorten_names(std::vector<Groups::Group>& groups) {
  const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
  std::map<std::string, int> uses;
  for (const auto& g : groups) ++uses[last(g.name)];
  for (auto& g : groups)
    if (g.name.empty())
      g.name = "(type unknown)";
    else if (uses[last(g.name)] == 1)
      g.name = last(g.name);
}

}  // namespace

Tree operator_tree(const Report& report, const Columns& columns, const View& view) {
  Groups groups(columns);
  for (const auto& node : report.graph().nodes()) {
    auto& group = groups[node.op()];
    ++group.count;
    reports::add_node(report, columns.cells, node, group.sums);
    if (!shows_members(view)) continue;
    Sums own = reports::empty_sums(columns.cells);
    reports::add_node(report, columns.cells, node, own);
    const auto path = path_of(node.call());
    const auto shape = node.result_count() ? describe(node.result(0)) : std::string();
    group.members.push_back(
        {std::to_string(node.index()), std::string(path), "", shape, cells_of(own), {}});
  }
  const auto add_answer = [&](const tmeter::ModuleCall& call, const Sums& given) {
    auto& group = groups[call.module().qualified_type()];
    ++group.count;
    for (size_t c = 0; c < given.size(); ++c) group.sums[c].add(given[c].result());
    if (!shows_members(view)) return;
    group.members.push_back({"", std::string(path_of(call)), "", "", cells_of(given), {}});
  };
  reports::for_each_value_by_module(report, columns.cells, add_answer);
  return make_tree(report, columns, view, groups);
}

Tree type_tree(const Report& report, const Columns& columns, const View& view) {
  Groups groups(columns);
  const auto ids = tmeter::module_ids(report.graph());
  const auto own = reports::own_sums(report, columns.cells);
  for (const auto& m : report.graph().modules()) {
    const bool families = view.by == By::kFamily;
    auto& group = groups[families ? reports::family_of(m) : m.qualified_type()];
    const bool counts = !families || reports::is_layer(m);
    group.count += counts;
    for (size_t c = 0; c < columns.cells.size(); ++c) group.sums[c].add(own[m.index()][c].result());
    if (!counts || !shows_members(view)) continue;
    const auto path = m.index() == 0 ? std::string_view("(root)") : m.path();
    group.members.push_back(
        {ids[m.index()], std::string(path), "", "", cells_of(own[m.index()]), {}});
    group.members.back().module = m.index();
  }
  shorten_names(groups.all());
  return make_tree(report, columns, view, groups);
}

}  // namespace text_report
