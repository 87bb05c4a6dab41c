#include "tree.hpp"

#include <algorithm>

namespace text_report {
void sort_children(Branch& branch, size_t c, size_t levels) {
  if (levels == 0) return;
  std::stable_sort(
      branch.children.begin(), branch.children.end(),
      [c](const Branch& a, const Branch& b) { return a.cells[c].real() > b.cells[c].real(); });
  for (auto& child : branch.children) sort_children(child, c, levels - 1);
}

}  // namespace text_report
