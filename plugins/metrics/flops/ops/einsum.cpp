// aten::einsum: pairs are contracted from left to right, or along `path` when the file has one
// (opt_einsum), as aten/src/ATen/native/Linear.cpp does it. A pair that shares a label to be summed
// becomes a batched matrix product; all others are elementwise products without MACs.
#include "einsum.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace flops {
namespace {

constexpr size_t kFirstEllipsisLabel = 52;
constexpr size_t kMaxOperands = 32;

size_t label_of(char c) { return c <= 'Z' ? size_t(c - 'A') : size_t(c - 'a') + 26; }
Labels bit(size_t label) { return Labels{1} << label; }

struct Term {
  std::string letters;  // with '.' once for the ellipsis
  int64_t ellipsis_dims = 0;
};

Term read_term(std::string_view text) {
  Term t;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "...") {
      t.letters += '.';
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      t.letters += text[i];
    } else {
      throw Unsupported("einsum equation is not understood");
    }
  }
  return t;
}

std::vector<Term> read_terms(std::string_view text) {
  std::vector<Term> terms;
  for (size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    terms.push_back(read_term(text.substr(from, to - from)));
    from = to + 1;
  }
  return terms;
}

// Dims of "…" are aligned at the right: label kFirst + (all − own) + i.
EinsumOperand read_operand(const Term& t, const Shape& shape, int64_t all_ellipsis_dims) {
  EinsumOperand operand;
  int64_t dim = 0;
  const auto put = [&](size_t label) {
    auto& size = operand.size.at(label);
    size = std::max(size, shape[dim++]);  // a repeated letter takes the diagonal
    operand.labels |= bit(label);
  };
  for (const char c : t.letters) {
    if (c != '.') {
      put(label_of(c));
      continue;
    }
    const auto first = kFirstEllipsisLabel + size_t(all_ellipsis_dims - t.ellipsis_dims);
    for (int64_t i = 0; i < t.ellipsis_dims; ++i) put(first + size_t(i));
  }
  return operand;
}

Labels ellipsis_labels(int64_t dims) {
  Labels all = 0;
  for (int64_t i = 0; i < dims; ++i) all |= bit(kFirstEllipsisLabel + size_t(i));
  return all;
}

// Without "->" the output has the ellipsis and every letter that occurs once.
Labels implicit_output(const std::vector<Term>& terms, int64_t ellipsis_dims) {
  std::array<int, kMaxLabels> seen{};
  for (const auto& t : terms)
    for (const char c : t.letters)
      if (c != '.') ++seen[label_of(c)];
  Labels output = ellipsis_labels(ellipsis_dims);
  for (size_t i = 0; i < kFirstEllipsisLabel; ++i)
    if (seen[i] == 1) output |= bit(i);
  return output;
}

// --- contraction ---------------------------------------------------------------------------

struct Cost {
  Count macs = 0, other = 0;
};

Count numel(const EinsumOperand& o) {
  Count n = 1;
  for (const auto s : o.size) n *= s;
  return n;
}

// How many operands still have the label at a size other than 1.
std::array<int, kMaxLabels> users(const Einsum& e) {
  std::array<int, kMaxLabels> count{};
  for (const auto& o : e.operands)
    for (size_t i = 0; i < kMaxLabels; ++i) count[i] += o.size[i] != 1;
  return count;
}

EinsumOperand contract(EinsumOperand a, EinsumOperand b, Labels output,
                       std::array<int, kMaxLabels>& count, Cost& cost) {
  Labels summed = 0;
  bool sum_a = false, sum_b = false;
  const auto before_a = numel(a), before_b = numel(b);
  for (size_t i = 0; i < kMaxLabels; ++i) {
    if (output & bit(i)) continue;
    if (a.size[i] != 1 && b.size[i] != 1) {
      if (--count[i] == 1) summed |= bit(i), count[i] = 0;
    } else if (count[i] == 1 && a.size[i] != 1) {
      a.size[i] = 1, count[i] = 0,
      sum_a = true;  // only in this operand: summed before the product
    } else if (count[i] == 1 && b.size[i] != 1) {
      b.size[i] = 1, count[i] = 0, sum_b = true;
    }
  }
  if (sum_a) cost.other += before_a;
  if (sum_b) cost.other += before_b;
  EinsumOperand result;
  Count product = 1;
  for (size_t i = 0; i < kMaxLabels; ++i) {
    const auto size = a.size[i] != 1 ? a.size[i] : b.size[i];
    product *= size;
    if (!(summed & bit(i))) result.size[i] = size;
  }
  (summed ? cost.macs : cost.other) += product;
  return result;
}

EinsumOperand take(std::vector<EinsumOperand>& operands, size_t i) {
  if (i >= operands.size()) throw Unsupported("einsum path is out of range");
  auto o = std::move(operands[i]);
  operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
  return o;
}

Cost einsum_cost(const Node& n) {
  auto e = parse_einsum(n);
  const auto path = n.arg("path");
  auto count = users(e);
  Cost cost;
  if (e.operands.size() == 1 && e.operands[0].labels & ~e.output) cost.other = numel(e.operands[0]);
  for (size_t step = 0; e.operands.size() > 1; ++step) {
    size_t i = 0, j = 1;
    if (path.is_list()) {
      i = static_cast<size_t>(path[2 * step].as_int());
      j = static_cast<size_t>(path[2 * step + 1].as_int());
      if (j < i) std::swap(i, j);
    }
    auto b = take(e.operands, j), a = take(e.operands, i);
    auto made = contract(std::move(a), std::move(b), e.output, count, cost);
    // With a path the result is appended, otherwise prepended.
    e.operands.insert(path.is_list() ? e.operands.end() : e.operands.begin(), std::move(made));
  }
  return cost;
}

}  // namespace

Einsum parse_einsum(const Node& n) {
  std::string equation(n.arg("equation").text());
  std::erase(equation, ' ');
  const auto tensors = n.arg("tensors");
  const auto arrow = equation.find("->");
  auto terms = read_terms(std::string_view(equation).substr(0, arrow));
  if (equation.empty() || terms.size() != tensors.size() || terms.size() > kMaxOperands)
    throw Unsupported("einsum equation does not fit its operands");

  int64_t ellipsis_dims = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto dots = std::count(terms[i].letters.begin(), terms[i].letters.end(), '.');
    const auto own =
        tensors[i].shape().rank() - static_cast<int64_t>(terms[i].letters.size()) + dots;
    if (!tensors[i].is_tensor() || own < 0 || dots > 1 || (own > 0 && !dots) ||
        own > static_cast<int64_t>(kMaxLabels - kFirstEllipsisLabel))
      throw Unsupported("einsum equation does not fit its operands");
    terms[i].ellipsis_dims = own;
    ellipsis_dims = std::max(ellipsis_dims, own);
  }
  Einsum e;
  for (size_t i = 0; i < terms.size(); ++i)
    e.operands.push_back(read_operand(terms[i], tensors[i].shape(), ellipsis_dims));
  if (arrow == std::string::npos) {
    e.output = implicit_output(terms, ellipsis_dims);
  } else {
    for (const char c : read_term(std::string_view(equation).substr(arrow + 2)).letters)
      e.output |= c == '.' ? ellipsis_labels(ellipsis_dims) : bit(label_of(c));
  }
  return e;
}

void register_einsum(tmeter::Registrar& r) {
  r.op("aten::einsum")
      .handle(kMacs, [](const Node& n) { return einsum_cost(n).macs; })
      .handle(kOther, [](const Node& n) { return einsum_cost(n).other; });
}

}  // namespace flops
