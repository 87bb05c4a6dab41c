// The tree that the table shows: modules, operators grouped by name, or modules grouped by type. It
// is built, repeats are folded, siblings sorted; tree_lines.hpp draws it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tmeter/cpp/graph.hpp>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/describe.hpp"
#include "columns.hpp"

namespace text_report {

/// Whether a cell is partial, for the legend.
inline constexpr const char* kLowerBound =
    "≥: a lower bound; some operators or tensors inside have no value";

/// Whether a cell rests on an assumption, for the legend.
inline constexpr const char* kAssumed = "~: rests on an assumption that a warning names";

/// Whether a cell is part of a module's value, for the legend.
inline constexpr const char* kInModule =
    "↑: included in the value of an enclosing module, which a plugin gives as a whole";

inline bool any_in_module(const std::vector<Cell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const Cell& c) { return c.in_module(); });
}
inline bool any_assumed(const std::vector<Cell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const Cell& c) { return c.assumed(); });
}
inline bool any_partial(const std::vector<Cell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const Cell& c) { return c.partial(); });
}

struct Branch {
  std::string id;
  std::string label;
  std::string note;  // "×3", "†"
  std::string type;
  std::vector<Cell> cells;  // one for each of Columns::cells
  std::vector<Branch> children;
  std::vector<std::string> facts{};  // one per column of words; empty: none
  size_t module = kNoModule;         // index
  size_t times = 1, window = 1;      // the run that it represents or belongs to: 5 times 2 siblings
  bool run = false;                  // represents a run; its children are one repetition
  static constexpr size_t kNoModule = SIZE_MAX;
};

struct Tree {
  Branch root;
  size_t depth = 0;                                   // levels below the root that are shown
  size_t deepest = 0;                                 // levels in the model
  size_t hidden = 0;                                  // branches below `depth`
  std::vector<std::string> legend;                    // explains the marks in rows
  std::optional<std::vector<tmeter::Tensor>> ties{};  // tied_tensors, if computed
};

/// Sorts children by column `c`, largest first, `levels` deep; equal ones keep their order.
void sort_children(Branch& branch, size_t c, size_t levels);

// Repeats are drawn once: "repeat 12 ×" with one of the twelve below it.

/// Folds runs of identical siblings among `children`, the branches of one module.
/// Only runs of `fold_from` repetitions or more, whose members are equal in all that is shown. The
/// row of a run has the sums of all repetitions, so that columns still add up.
void fold_repeats(const tmeter::Report& report, const Columns& columns, size_t fold_from,
                  std::vector<Branch>& children);

// The three trees of --by.

/// --by module: the module tree, down to --depth or as deep as fits about one screen.
Tree module_tree(const tmeter::Report& report, const Columns& columns, const View& view);

/// --by operator: operators by name; below them (--depth 2) every call.
Tree operator_tree(const tmeter::Report& report, const Columns& columns, const View& view);

/// --by type: module types with the values of their modules, without inner ones, so that rows add
/// up to the total; below them (--depth 2) every module.
Tree type_tree(const tmeter::Report& report, const Columns& columns, const View& view);

using reports::describe;
using reports::model_name;

}  // namespace text_report
