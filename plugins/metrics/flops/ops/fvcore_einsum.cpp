// fvcore asks numpy.einsum_path(…, optimize="optimal") and reads "Optimized FLOP count: 1.234e+07"
// back from its printed text, so its figure has four digits. Reproduced from the description in
// numpy's documentation of einsum_path and numpy 2.4's behaviour; two patterns are exact instead.
#include "fvcore_einsum.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

#include "einsum.hpp"

namespace flops {
namespace {

constexpr size_t kMaxTerms = 7;  // the search is exhaustive, as numpy's; 7 terms are 57,960 paths

/// Sizes of the labels: broadcast ones count with the larger size.
std::array<int64_t, kMaxLabels> label_sizes(const Einsum& e) {
  std::array<int64_t, kMaxLabels> sizes;
  sizes.fill(1);
  for (const auto& o : e.operands)
    for (size_t i = 0; i < kMaxLabels; ++i) sizes[i] = std::max(sizes[i], o.size[i]);
  return sizes;
}

class OptimalPath {
 public:
  explicit OptimalPath(const Einsum& e) : size_(label_sizes(e)), output_(e.output) {
    for (const auto& o : e.operands) terms_.push_back(o.labels);
    limit_ = product(output_);
    for (const auto t : terms_) limit_ = std::max(limit_, product(t));
  }

  double cost() {
    Labels all = 0;
    for (const auto t : terms_) all |= t;
    if (terms_.size() <= 2 || all == output_) return contract_all(terms_);
    search(terms_, 0);
    // No path stays within the largest operand or result: numpy contracts the deepest rest at once.
    return best_ ? *best_ : dead_end_.rbegin()->second;
  }

 private:
  using Terms = std::vector<Labels>;

  double product(Labels labels) const {
    double n = 1;
    for (size_t i = 0; i < kMaxLabels; ++i)
      if (labels >> i & 1) n *= static_cast<double>(size_[i]);
    return n;
  }

  // One operation per point and further factor, one more when a label is summed away.
  double step_cost(Labels involved, Labels kept, size_t terms) const {
    const double factor = static_cast<double>(std::max<size_t>(1, terms - 1));
    return product(involved) * (factor + (involved & ~kept ? 1 : 0));
  }

  double contract_all(const Terms& terms) const {
    Labels all = 0;
    for (const auto t : terms) all |= t;
    return step_cost(all, all & output_, terms.size());
  }

  void search(const Terms& terms, double cost) {
    if (terms.size() == 1) {
      if (!best_ || cost < *best_) best_ = cost;
      return;
    }
    bool any = false;
    for (size_t i = 0; i < terms.size(); ++i) {
      for (size_t j = i + 1; j < terms.size(); ++j) {
        Terms rest;
        Labels others = output_;
        for (size_t k = 0; k < terms.size(); ++k)
          if (k != i && k != j) rest.push_back(terms[k]), others |= terms[k];
        const Labels involved = terms[i] | terms[j], kept = involved & others;
        if (product(kept) > limit_) continue;
        any = true;
        rest.push_back(kept);
        search(rest, cost + step_cost(involved, kept, 2));
      }
    }
    if (!any) note_dead_end(terms, cost);
  }

  // Of the deepest dead ends, the cheapest before the final contraction counts.
  void note_dead_end(const Terms& terms, double cost) {
    const auto depth = -static_cast<int64_t>(terms.size());
    const auto it = dead_cost_.find(depth);
    if (it != dead_cost_.end() && it->second <= cost) return;
    dead_cost_[depth] = cost;
    dead_end_[depth] = cost + contract_all(terms);
  }

  std::array<int64_t, kMaxLabels> size_;
  Labels output_;
  Terms terms_;
  double limit_ = 1;
  std::optional<double> best_;
  std::map<int64_t, double> dead_cost_, dead_end_;
};

// "abc,abd->acd" and "abc,adc->adb" under any letters: batched products, exact in fvcore.
bool is_plain_batched_product(std::string_view equation) {
  std::string renamed;
  std::map<char, char> letters;
  for (const char c : equation) {
    if (c == ' ') continue;
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    renamed +=
        letter ? letters.try_emplace(c, static_cast<char>('a' + letters.size())).first->second : c;
  }
  return renamed == "abc,abd->acd" || renamed == "abc,adc->adb";
}

}  // namespace

Count fvcore_einsum(const Node& n) {
  const auto e = parse_einsum(n);
  if (e.operands.empty() || e.operands.size() > kMaxTerms)
    throw Unsupported("an einsum of more operands than numpy's optimal path can search");
  if (is_plain_batched_product(n.arg("equation").text())) {
    Count product = 1;
    for (const auto s : label_sizes(e)) product *= s;
    return product;
  }
  std::array<char, 32> printed{};
  std::snprintf(printed.data(), printed.size(), "%.3e", OptimalPath(e).cost() + 1);
  return whole(std::strtod(printed.data(), nullptr) / 2);
}

}  // namespace flops
