// The tree that the table shows, whatever it is a tree of: modules, operators grouped by name,
// modules grouped by type. Built, sorted, then flattened into lines with guides. Folding of repeats
// ("Repeat [n] times") is a step between sorting and flattening.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "reading.hpp"
#include "style.hpp"

namespace text_report {

/// For the legend of a tree with partial cells.
inline constexpr const char* kLowerBound =
    "≥: a lower bound; some operators or tensors inside have no figure";

/// For the legend of a tree with cells that are part of a module's figure.
inline constexpr const char* kInModule =
    "↑: in the figure of a module around it, which a plugin gives as a whole";

inline bool any_in_module(const std::vector<Cell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const Cell& c) { return c.in_module(); });
}
inline bool any_partial(const std::vector<Cell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const Cell& c) { return c.partial(); });
}

struct Branch {
  std::string id;
  std::string label;
  std::string note;  // "×3", "†"
  std::string type;
  std::vector<Cell> cells;  // one per column
  std::vector<Branch> children;
  std::vector<std::string> facts{};  // one per column of words; empty: none
};

struct Tree {
  Branch root;
  size_t depth = 0;                 // levels below the root that are shown
  size_t deepest = 0;               // levels there are
  size_t hidden = 0;                // branches below `depth`
  std::vector<std::string> legend;  // what marks in the rows mean
};

struct TreeLine {
  const Branch* branch;
  std::string guide;  // "│  ├─ "
};

/// Children with more of column `c` first, `levels` deep; equal ones keep their order.
void sort_children(Branch& branch, size_t c, size_t levels);

/// Pre-order. The lines point into `root`.
std::vector<TreeLine> flatten(const Branch& root);

}  // namespace text_report
