// The tree that the table shows, whatever it is a tree of: modules, operators grouped by name,
// modules grouped by type. Built, repeats folded, sorted, then drawn (tree_lines.hpp).
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tmeter/cpp/graph.hpp>
#include <vector>

#include "reading.hpp"
#include "style.hpp"

namespace text_report {

/// For the legend of a tree with partial cells.
inline constexpr const char* kLowerBound =
    "≥: a lower bound; some operators or tensors inside have no figure";

/// For the legend of a tree with cells that rest on an assumption.
inline constexpr const char* kAssumed =
    "~: rests on an assumption about data, which a warning names";

/// For the legend of a tree with cells that are part of a module's figure.
inline constexpr const char* kInModule =
    "↑: in the figure of a module around it, which a plugin gives as a whole";

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
  size_t times = 1, window = 1;      // of the run it is, or is a part of: 5 times 2 siblings
  bool run = false;                  // stands for a run; its children are one repetition
  static constexpr size_t kNoModule = SIZE_MAX;
};

struct Tree {
  Branch root;
  size_t depth = 0;                                   // levels below the root that are shown
  size_t deepest = 0;                                 // levels there are
  size_t hidden = 0;                                  // branches below `depth`
  std::vector<std::string> legend;                    // what marks in the rows mean
  std::optional<std::vector<tmeter::Tensor>> ties{};  // tied_tensors, when they were looked for
};

/// Children with more of column `c` first, `levels` deep; equal ones keep their order.
void sort_children(Branch& branch, size_t c, size_t levels);

}  // namespace text_report
