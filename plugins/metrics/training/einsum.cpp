#include "einsum.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace training {
namespace {

/// "bhid, bhjd -> bhij" without spaces: the labels of both operands and of the result, which may be
/// left out.
struct Labels {
  std::string left, right, result;
};

std::optional<Labels> labels_of(std::string_view equation) {
  std::string text(equation);
  std::erase(text, ' ');
  const auto comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || text.find('.') != std::string::npos) return std::nullopt;
  Labels out{text.substr(0, comma),
             text.substr(comma + 1, arrow == std::string::npos ? arrow : arrow - comma - 1),
             {}};
  if (arrow != std::string::npos) {
    out.result = text.substr(arrow + 2);
    return out;
  }
  auto all = out.left + out.right;  // without an arrow: the labels that occur once, sorted
  std::sort(all.begin(), all.end());
  for (const char c : all)
    if (std::count(all.begin(), all.end(), c) == 1) out.result += c;
  return out;
}

bool has_doubles(std::string text) {
  std::sort(text.begin(), text.end());
  return std::adjacent_find(text.begin(), text.end()) != text.end();
}

/// Dims of one operand by label: first those of the result, then those that are summed over.
struct Aligned {
  Dims shape, strides;
};

Aligned aligned(const std::string& order, const std::string& labels, EinsumOperand operand) {
  Aligned out{Dims(order.size(), 1), Dims(order.size(), 0)};
  for (size_t i = 0; i < order.size(); ++i) {
    const auto at = labels.find(order[i]);
    if (at == std::string::npos) continue;
    out.shape[i] = operand.shape[at];
    out.strides[i] = operand.strides[at];
  }
  return out;
}

BatchedMatrix matrices(const Aligned& from, const std::vector<std::vector<size_t>>& groups) {
  BatchedMatrix out;
  for (const auto& group : groups) {
    int64_t size = 1;
    for (const size_t d : group) {
      out.shape.push_back(from.shape[d]);
      out.strides.push_back(from.strides[d]);
      size *= from.shape[d];
    }
    out.to.push_back(size);
  }
  return out;
}

}  // namespace

// Linear.cpp, sumproduct_pair: `lro` are dims of both and the result, `lo` and `ro` of one.
std::optional<std::pair<BatchedMatrix, BatchedMatrix>> einsum_matrices(std::string_view equation,
                                                                       EinsumOperand left,
                                                                       EinsumOperand right) {
  const auto labels = labels_of(equation);
  if (!labels || has_doubles(labels->left) || has_doubles(labels->right) ||
      labels->left.size() != left.shape.size() || labels->right.size() != right.shape.size())
    return std::nullopt;
  auto order = labels->result;
  for (const char c : labels->left + labels->right)
    if (order.find(c) == std::string::npos) order += c;
  const auto l = aligned(order, labels->left, left), r = aligned(order, labels->right, right);
  std::vector<size_t> lro, lo, ro, summed;
  for (size_t d = 0; d < order.size(); ++d) {
    const bool in_left = l.shape[d] != 1, in_right = r.shape[d] != 1;
    if (d >= labels->result.size()) {
      if (in_left != in_right) return std::nullopt;  // summed before
      summed.push_back(d);
    } else {
      (in_left && in_right ? lro : in_left ? lo : ro).push_back(d);
    }
  }
  const bool sums =
      std::any_of(summed.begin(), summed.end(), [&](size_t d) { return l.shape[d] != 1; });
  if (!sums) return std::nullopt;
  return std::pair(matrices(l, {lro, lo, summed}), matrices(r, {lro, summed, ro}));
}

}  // namespace training
