#include "tree.hpp"

#include <algorithm>
#include <iterator>

namespace text_report {

void sort_children(Branch& branch, size_t c, size_t levels) {
  if (levels == 0) return;
  std::stable_sort(
      branch.children.begin(), branch.children.end(),
      [c](const Branch& a, const Branch& b) { return a.cells[c].real() > b.cells[c].real(); });
  for (auto& child : branch.children) sort_children(child, c, levels - 1);
}

namespace {

bool same(const Cell& a, const Cell& b) {
  const auto x = a.abi(), y = b.abi();
  return x.flags == y.flags && x.kind == y.kind && x.i == y.i && x.f == y.f;
}

/// Whether two branches are equal in all that is shown except id and name.
bool alike(const Branch& a, const Branch& b) {
  return a.note == b.note && a.type == b.type && a.facts == b.facts &&
         std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(), same) &&
         std::equal(
             a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
             [](const Branch& x, const Branch& y) { return x.label == y.label && alike(x, y); });
}

/// Whether the `count` siblings from the module of `items[at]` on are the next branches.
template <class Modules>
bool are_shown(const Modules& modules, const std::vector<Branch>& items, size_t at, size_t count) {
  if (at + count > items.size()) return false;
  const auto parent = modules[items[at].module].parent();
  size_t first = 0;
  while (parent.child(first).index() != items[at].module) ++first;
  return parent.child(first + count - 1).index() == items[at + count - 1].module;
}

bool all_alike(const std::vector<Branch>& items, size_t at, size_t window, size_t times) {
  for (size_t i = at + window; i < at + window * times; ++i)
    if (!alike(items[i], items[i - window])) return false;
  return true;
}

Branch run_of(const std::vector<Branch>& items, size_t at, size_t window, size_t times,
              const Columns& columns) {
  const size_t end = at + window * times;
  const std::string& last = items[end - 1].id;
  Branch run{items[at].id + "–" + last.substr(last.rfind('.') + 1),  // "5.1–6"
             "repeat " + std::to_string(times) + " ×",
             "",
             "",
             {},
             {}};
  for (size_t c = 0; c < columns.cells.size(); ++c) {
    Accumulator sum(columns.cells[c].aggregation());
    for (size_t i = at; i < end; ++i) sum.add(items[i].cells[c]);
    run.cells.push_back(sum.result());
  }
  run.run = true;
  run.times = times;
  run.window = window;
  std::copy_n(items.begin() + static_cast<ptrdiff_t>(at), window, std::back_inserter(run.children));
  for (auto& item : run.children) item.times = times, item.window = window;
  return run;
}

}  // namespace

void fold_repeats(const tmeter::Report& report, const Columns& columns, size_t fold_from,
                  std::vector<Branch>& children) {
  const auto modules = report.graph().modules();
  std::vector<Branch> out;
  for (size_t i = 0; i < children.size();) {
    const auto run = report.repeat(modules[children[i].module]);
    // If some modules of a run are hidden, each visible one has its own row.
    const bool folds =
        run && run.times >= fold_from && are_shown(modules, children, i, run.window * run.times);
    if (folds && all_alike(children, i, run.window, run.times)) {
      out.push_back(run_of(children, i, run.window, run.times, columns));
      i += run.window * run.times;
    } else {
      out.push_back(std::move(children[i++]));
    }
  }
  children = std::move(out);
}

}  // namespace text_report
