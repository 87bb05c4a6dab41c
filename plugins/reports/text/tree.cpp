#include "tree.hpp"

#include <algorithm>

namespace text_report {
namespace {

void flatten_children(const Branch& parent, const std::string& guide, std::vector<TreeLine>& out) {
  for (const auto& child : parent.children) {
    const bool last = &child == &parent.children.back();
    out.push_back({&child, guide + (last ? "└─ " : "├─ ")});
    flatten_children(child, guide + (last ? "   " : "│  "), out);
  }
}

}  // namespace

void sort_children(Branch& branch, size_t c, size_t levels) {
  if (levels == 0) return;
  std::stable_sort(
      branch.children.begin(), branch.children.end(),
      [c](const Branch& a, const Branch& b) { return a.cells[c].real() > b.cells[c].real(); });
  for (auto& child : branch.children) sort_children(child, c, levels - 1);
}

std::vector<TreeLine> flatten(const Branch& root) {
  std::vector<TreeLine> lines{{&root, ""}};
  flatten_children(root, "", lines);
  return lines;
}

}  // namespace text_report
