#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <tmeter/cpp/op_class.hpp>

#include "ops/einsum.hpp"
#include "ops/shapes.hpp"
#include "tools.hpp"

namespace flops {
namespace {

// fvcore calls numpy.einsum_path(…, optimize="optimal") and reads "Optimized FLOP count: 1.234e+07"
// back from its printed text, so its value has four digits. Reproduced from the description in
// numpy's documentation of einsum_path and numpy 2.4's behaviour; two patterns are exact instead.

constexpr size_t kMaxTerms = 7;  // the search is exhaustive, as numpy's; 7 terms are 57,960 paths

/// Sizes of the labels; broadcast labels have the larger size.
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

  // One operation per point and further factor, and one more if a label is summed over.
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

  // Among the deepest dead ends, the cheapest before the final contraction counts.
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

/// The value of fvcore's einsum_flop_jit: half of numpy's count for its optimal path.
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

// Sources: fvcore 0.1.5, fvcore/nn/flop_count.py (which operators) and jit_handles.py (formulas).
using Formula = Count (*)(const Node&);
/// conv_flop_count, addmm_flop_jit, linear_flop_jit and bmm_flop_jit give the count of `macs`.
constexpr Formula kAsMacs = nullptr;

// matmul_flop_jit: prod(left) * right[-1]. It ignores dims over which the right side broadcasts.
Count matmul(const Node& n) {
  const auto right = tensor_arg(n, {"other", "mat2"}).shape();
  if (right.rank() < 2) throw Unsupported("fvcore fails on a matrix-vector product");
  return tensor_arg(n, {"self"}).numel() * right.back();
}

// batchnorm_flop_jit: folded in eval mode; norm_flop_counter: "5 is just a rough estimate".
Count statistics_norm(const Node& n) {
  return data(n).numel() * (has_tensor(n, {"weight"}) ? 5 : 4);
}
Count folded_norm(const Node& n) { return data(n).numel() * (has_tensor(n, {"weight"}) ? 2 : 1); }
Count batch_norm(const Node& n) {
  const bool training = n.arg("training").as_bool() || n.arg("train").as_bool();
  return training ? statistics_norm(n) : folded_norm(n);
}

// elementwise_flop_counter(input_scale, output_scale)
Count input_once(const Node& n) { return data(n).numel(); }
Count output_once(const Node& n) { return output(n).numel(); }
Count output_times_4(const Node& n) { return output(n).numel() * 4; }

struct Row {
  std::string_view op;
  Formula formula;
};

// fvcore sees traced operators: `_convolution` for every convolution, two `linear` for a recurrent
// cell. An exported or decomposed graph has others for the same work, which get the same formula.
constexpr std::array kRows{
    Row{"aten::_adaptive_avg_pool2d", input_once},
    Row{"aten::_convolution", kAsMacs},
    Row{"aten::_native_batch_norm_legit", batch_norm},
    Row{"aten::_native_batch_norm_legit_no_training", folded_norm},
    Row{"aten::adaptive_avg_pool2d", input_once},
    Row{"aten::addmm", kAsMacs},
    Row{"aten::batch_norm", batch_norm},
    Row{"aten::bmm", kAsMacs},
    Row{"aten::conv1d", kAsMacs},
    Row{"aten::conv2d", kAsMacs},
    Row{"aten::conv3d", kAsMacs},
    Row{"aten::conv_transpose1d", kAsMacs},
    Row{"aten::conv_transpose2d", kAsMacs},
    Row{"aten::conv_transpose3d", kAsMacs},
    Row{"aten::convolution", kAsMacs},
    Row{"aten::cudnn_batch_norm", batch_norm},
    Row{"aten::einsum", fvcore_einsum},
    Row{"aten::grid_sampler", output_times_4},
    Row{"aten::grid_sampler_2d", output_times_4},
    Row{"aten::grid_sampler_3d", output_times_4},
    Row{"aten::group_norm", statistics_norm},
    Row{"aten::gru_cell", kAsMacs},
    Row{"aten::instance_norm", statistics_norm},
    Row{"aten::layer_norm", statistics_norm},
    Row{"aten::linear", kAsMacs},
    Row{"aten::lstm_cell", kAsMacs},
    Row{"aten::matmul", matmul},
    Row{"aten::mm", kAsMacs},
    Row{"aten::native_batch_norm", batch_norm},
    Row{"aten::native_group_norm", statistics_norm},
    Row{"aten::native_layer_norm", statistics_norm},
    Row{"aten::rnn_relu_cell", kAsMacs},
    Row{"aten::rnn_tanh_cell", kAsMacs},
    Row{"aten::upsample_bilinear2d", output_times_4},
    Row{"aten::upsample_nearest2d", output_once},
};
static_assert(std::is_sorted(kRows.begin(), kRows.end(),
                             [](const Row& a, const Row& b) { return a.op < b.op; }));

/// nn.Conv with padding="same" is traced as aten::_convolution_mode, which fvcore does not support.
bool is_convolution_mode(const Node& n) { return n.overload() == "padding"; }

const Row* find(std::string_view op) {
  const auto at = std::lower_bound(kRows.begin(), kRows.end(), op,
                                   [](const Row& r, std::string_view o) { return r.op < o; });
  return at != kRows.end() && at->op == op ? &*at : nullptr;
}

}  // namespace

Cell fvcore_flops(const Node& n, const Cell& macs, tmeter::Call& call) {
  if (const auto* row = find(n.op()); row && !is_convolution_mode(n))
    return row->formula ? Cell(row->formula(n)) : macs;
  if (!macs.known()) return Cell::unsupported();
  if (macs.count() > 0) {
    call.warn("fvcore does not count " + std::string(n.op()) +
              ": its multiply-accumulates are in `macs`, but not in `flops` by this convention");
  }
  return Cell::zero_by_rule();
}

}  // namespace flops
