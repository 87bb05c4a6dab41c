#include "saved.hpp"

#include <algorithm>
#include <numeric>
#include <tmeter/cpp/op_class.hpp>

#include "backward_work.hpp"
#include "derivatives.hpp"
#include "layout.hpp"

namespace training {
namespace {

using tmeter::Count;
using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

constexpr Count kIndexBytes = 8;

/// The type of statistics: half and bfloat16 are summed in float32.
Count statistic_bytes(tmeter::DType dtype, const Settings& settings) {
  return std::max(Count(4), element_bytes(dtype, settings));
}

class TapeRecorder {
 public:
  TapeRecorder(const tmeter::Graph& graph, const Gradients& gradients, const Settings& settings)
      : graph_(graph),
        gradients_(gradients),
        settings_(settings),
        placement_(graph, gradients, settings) {}

  Tape run() {
    for (const auto& node : graph_.nodes()) {
      node_ = static_cast<uint32_t>(node.index());
      has_rule_ = true;
      placement_.step(node);
      for (size_t i = 0; i < node.arg_count(); ++i) use(node.arg(i));
      for (size_t i = 0; i < node.result_count(); ++i) use(node.result(i));
      if (gradients_.through(node)) record(node);
      if (const auto adapter = gradients_.adapters().of(node)) keep_adapter(*adapter);
      tape_.end_node(has_rule_);
    }
    for (const auto& output : graph_.outputs()) list_output(output);
    tape_.storages = placement_.take_storages();
    tape_.places = placement_.take_places();
    tape_.last_use.resize(tape_.storages.size(), kNone);
    return std::move(tape_);
  }

 private:
  void record(const Node& node) {
    if (const auto* rule = gradients_.rule_of(node)) return keep_by(*rule, node);
    const auto base = tmeter::base_name(node.op());
    if (base == "scaled_dot_product_attention") return keep_attention(node);
    if (base == "matmul" || base == "linalg_matmul")
      return keep_product(node, node.arg("self"), node.arg("other"));
    if (base == "linear") return keep_linear(node);
    if (base == "einsum") return keep_einsum(node);
    const auto* composite = find_composite(base);
    const auto* row = composite ? &composite->rule : find_derivative(node.op(), node.overload());
    if (composite && makes_mean(node, base)) return;
    if (row) keep_by_rule(node, *row);
    if (composite) keep_extra(node, composite->extra);
    const auto kind = tmeter::op_class(node.op());
    has_rule_ =
        row || kind == OpClass::kView || kind == OpClass::kCopy || kind == OpClass::kControl;
  }

  void use(const Value& value) {
    for (size_t i = 0; i < value.size(); ++i) use(value[i]);
    if (!value.is_tensor()) return;
    const auto storage = placement_.of(value).storage;
    if (storage >= tape_.last_use.size()) tape_.last_use.resize(storage + 1, kNone);
    tape_.last_use[storage] = node_;
  }
  void list_output(const Value& value) {
    for (size_t i = 0; i < value.size(); ++i) list_output(value[i]);
    if (value.is_tensor()) tape_.outputs.push_back(placement_.of(value).storage);
  }

  // --- the kept tensors ---

  void keep(uint32_t storage) {
    if (!placement_.storages()[storage].persistent) tape_.kept.push_back(storage);
  }
  void keep(const Value& value) {
    for (size_t i = 0; i < value.size(); ++i) keep(value[i]);
    if (value.is_tensor()) keep(placement_.of(value).storage);
  }
  void keep_new(Count bytes) { keep(placement_.add(bytes, node_)); }
  /// Mean and reciprocal deviation.
  void keep_two(Count bytes) {
    keep_new(bytes);
    keep_new(bytes);
  }
  Count size_of(const Value& value) const { return bytes_of(value, settings_); }

  /// The result of a reshape: a view if possible, else a copy.
  void keep_reshaped(const Value& value, DimSpan shape, DimSpan strides, DimSpan to) {
    if (view_strides(shape, strides, to)) return keep(value);
    keep_new(
        std::accumulate(to.begin(), to.end(), Count(1), [](Count n, int64_t d) { return n * d; }) *
        element_bytes(value.dtype(), settings_));
  }

  /// The tensors kept by an in-house operator's rule.
  void keep_by(const tmeter_backward& rule, const Node& node) {
    for (size_t i = 0; i < 64; ++i) {
      if ((rule.keeps_arguments >> i & 1) != 0) keep(node.arg(i));
      if ((rule.keeps_results >> i & 1) != 0) keep(node.result(i));
    }
    if (rule.kept_bytes > 0) keep_new(rule.kept_bytes);
  }

  // --- by the rows of derivatives.yaml ---

  bool is_needed(const Node& node, std::string_view guards) const {
    if (guards.empty()) return true;
    bool any = false;
    for_each_word(
        guards, [&](std::string_view name) { any = any || gradients_.of_any(node.arg(name)); },
        ',');
    return any;
  }

  void keep_by_rule(const Node& node, const Derivative& row) {
    for_each_word(row.kept, [&](std::string_view entry) {
      const auto split = entry.find('<');
      const auto name = entry.substr(0, split);
      if (!is_needed(node, entry.substr(split + 1))) return;
      if (name.starts_with('#')) {
        const auto number = static_cast<size_t>(name[1] - '0');
        if (number < node.result_count()) keep(node.result(number));
        return;
      }
      const auto value = node.arg(name);
      const bool overwritten = tmeter::is_in_place(node.op()) && node.arg_count() > 0 &&
                               value.handle() == node.arg(size_t{0}).handle();
      if (overwritten && value.is_tensor())
        keep_new(size_of(value));  // a copy of the old values
      else
        keep(value);  // Python numbers do not count, because saved_tensors_hooks leaves them out
    });
  }

  /// A pooling to one element per channel runs as a mean, which keeps nothing.
  static bool makes_mean(const Node& node, std::string_view base) {
    const auto shape = node.result(0).shape();
    const int64_t spatial = base == "adaptive_avg_pool1d"   ? 1
                            : base == "adaptive_avg_pool2d" ? 2
                            : base == "adaptive_avg_pool3d" ? 3
                                                            : 0;
    return spatial > 0 && shape.rank() >= spatial &&
           shape.product(shape.rank() - spatial, shape.rank()) == Count(1);
  }

  void keep_extra(const Node& node, Extra extra) {
    if (extra == Extra::kNone) return;
    const auto input = node.arg("input").is_tensor() ? node.arg("input") : node.arg("self");
    const auto shape = input.shape();
    const auto wide = statistic_bytes(input.dtype(), settings_);
    switch (extra) {
      case Extra::kNone:
        break;
      case Extra::kChannelStatistics:
        if (uses_batch_statistics(node) && shape.rank() >= 2) keep_two(wide * shape[1]);
        break;
      case Extra::kInstanceStatistics:
        if (shape.rank() >= 2) {
          keep_two(wide * shape[0] * shape[1]);
          if (node.arg("weight").is_tensor()) keep_new(wide * shape[0] * shape[1]);
        }
        break;
      case Extra::kRowStatistics:
        keep_two(wide * rows_of(node, input));
        break;
      case Extra::kRowDeviation:
        keep_new(wide * rows_of(node, input));
        break;
      case Extra::kGroupStatistics:
        if (shape.rank() >= 1)
          keep_two(wide * shape[0] * std::max<int64_t>(1, node.arg("num_groups").as_int(1)));
        break;
      case Extra::kPoolIndices:
        keep_new(node.result(0).numel() * kIndexBytes);
        break;
      case Extra::kWeightNorms:
        keep_new(size_of(node.arg("g")));
        break;
      case Extra::kDropoutNoise:
        if (applies_dropout(node, settings_))
          keep_new(settings_.device == Device::kCuda ? input.numel() : size_of(input));
        break;
    }
  }

  bool uses_batch_statistics(const Node& node) const {
    return settings_.train || node.arg("training").as_bool();
  }

  static Count rows_of(const Node& node, const Value& input) {
    const auto normalized = node.arg("normalized_shape");
    Count width = 1;
    for (size_t i = 0; i < normalized.size(); ++i) width *= normalized[i].as_int(1);
    return width == Count(0) ? Count(0) : input.numel() / width;
  }

  // --- products ---

  void keep_einsum(const Node& node) {
    const auto factors = node.arg("tensors");
    if (factors.size() == 2) {
      const auto left = dims_of(factors[0].shape()), right = dims_of(factors[1].shape());
      const auto left_strides = placement_.of(factors[0]).strides,
                 right_strides = placement_.of(factors[1]).strides;
      const auto m = einsum_matrices(node.arg("equation").text(), {left, left_strides},
                                     {right, right_strides});
      if (m) {
        if (gradients_.of(factors[1]))
          keep_reshaped(factors[0], m->first.shape, m->first.strides, m->first.to);
        if (gradients_.of(factors[0]))
          keep_reshaped(factors[1], m->second.shape, m->second.strides, m->second.to);
        return;
      }
    }
    has_rule_ = factors.size() <= 2;
    keep_factors(factors);
  }

  /// Each factor is kept for the gradient of the others.
  void keep_factors(const Value& factors) {
    for (size_t i = 0; i < factors.size(); ++i)
      for (size_t k = 0; k < factors.size(); ++k)
        if (i != k && gradients_.of(factors[k])) keep(factors[i]);
  }

  void keep_rows(const Value& input) {
    const auto shape = dims_of(input.shape());
    if (shape.size() <= 2) return keep(input);
    const Dims rows{
        std::accumulate(shape.begin(), shape.end() - 1, int64_t{1}, std::multiplies<>()),
        shape.back()};
    keep_reshaped(input, shape, placement_.of(input).strides, rows);
  }

  /// The inputs of both products. Beside the result there are the adapter's, before and after it is
  /// scaled.
  void keep_adapter(const Adapter& adapter) {
    const auto element = element_bytes(adapter.input.dtype(), settings_);
    keep_rows(adapter.input);
    keep_new(adapter.rows * adapter.rank * element);
    for (int i = 0; i < 2; ++i) placement_.add(adapter.rows * adapter.out * element, node_);
  }

  void keep_linear(const Node& node) {
    const auto input = node.arg("input"), weight = node.arg("weight");
    if (gradients_.of(input)) keep(weight);
    if (gradients_.of(weight)) keep_rows(input);
  }

  /// at::matmul (LinearAlgebra.cpp): folded into one matrix product, or a batch of them.
  void keep_product(const Node&, const Value& left, const Value& right) {
    const bool keeps_left = gradients_.of(right), keeps_right = gradients_.of(left);
    const auto a = dims_of(left.shape()), b = dims_of(right.shape());
    if (a.size() <= 2 && b.size() <= 2) {
      if (keeps_left) keep(left);
      if (keeps_right) keep(right);
      return;
    }
    if (folds(left, right)) {
      const bool left_is_larger = a.size() >= b.size();
      const auto& larger = left_is_larger ? left : right;
      if (left_is_larger ? keeps_right : keeps_left) keep(left_is_larger ? right : left);
      if (left_is_larger ? keeps_left : keeps_right) keep_folded(larger, !left_is_larger);
      return;
    }
    Dims batch = batch_dims(a, b);
    if (keeps_left) keep_in_batch(left, a, batch, true);
    if (keeps_right) keep_in_batch(right, b, batch, false);
  }

  bool folds(const Value& left, const Value& right) {
    const bool left_is_larger = left.shape().rank() >= right.shape().rank();
    const auto& larger = left_is_larger ? left : right;
    const auto& smaller = left_is_larger ? right : left;
    if (larger.shape().rank() < 3 || smaller.shape().rank() > 2) return false;
    if (gradients_.of(smaller)) return true;
    if (left.shape().rank() == 2) return false;
    auto shape = larger.shape();
    Dims dims(shape.begin(), shape.end()), strides = placement_.of(larger).strides;
    if (!left_is_larger) {
      std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
      std::swap(strides[dims.size() - 1], strides[dims.size() - 2]);
    }
    for (size_t i = 0; i + 2 < dims.size(); ++i)
      if (strides[i] != strides[i + 1] * dims[i + 1]) return false;
    return true;
  }

  void keep_folded(const Value& value, bool transposed) {
    const auto shape = value.shape();
    Dims dims(shape.begin(), shape.end()), strides = placement_.of(value).strides;
    if (transposed) {
      std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
      std::swap(strides[dims.size() - 1], strides[dims.size() - 2]);
    }
    const Dims rows{std::accumulate(dims.begin(), dims.end() - 1, int64_t{1}, std::multiplies<>()),
                    dims.back()};
    keep_reshaped(value, dims, strides, rows);
  }

  static Dims batch_dims(DimSpan a, DimSpan b) {
    const size_t rank =
        std::max(a.size(), b.size()) - std::min<size_t>(2, std::max(a.size(), b.size()));
    Dims out(rank, 1);
    for (const auto& side : {a, b})
      for (size_t i = 0; i + 2 < side.size(); ++i) {
        auto& dim = out[rank - (side.size() - 2) + i];
        dim = std::max(dim, side[i]);
      }
    return out;
  }

  void keep_in_batch(const Value& value, DimSpan shape, const Dims& batch, bool left) {
    Dims dims(shape.begin(), shape.end()), strides = placement_.of(value).strides;
    if (dims.size() == 1) {  // a vector is a row on the left, a column on the right
      dims.insert(left ? dims.begin() : dims.end(), 1);
      strides.insert(left ? strides.begin() : strides.end(), 0);
    }
    if (dims.size() < 2 || dims.size() - 2 > batch.size()) return void(has_rule_ = false);
    Dims to(batch), wide(batch.size(), 0);
    const size_t own = dims.size() - 2;
    for (size_t i = 0; i < own; ++i)
      wide[batch.size() - own + i] = dims[i] == batch[batch.size() - own + i] ? strides[i] : 0;
    for (size_t i = own; i < dims.size(); ++i) to.push_back(dims[i]), wide.push_back(strides[i]);
    const Dims flat{std::accumulate(batch.begin(), batch.end(), int64_t{1}, std::multiplies<>()),
                    dims[own], dims[own + 1]};
    keep_reshaped(value, to, wide, flat);
  }

  // --- attention ---

  void keep_attention(const Node& node) {
    const auto query = node.arg("query"), key = node.arg("key"), value = node.arg("value");
    const auto mask = node.arg("attn_mask");
    if (std::min({query.shape().rank(), key.shape().rank(), value.shape().rank()}) < 2)
      return void(has_rule_ = false);
    const auto rows = query.shape().product(0, query.shape().rank() - 1);
    if (runs_fused(node, gradients_, settings_)) {
      keep(query), keep(key), keep(value), keep(node.result(0));
      if (mask.is_tensor()) keep_mask(mask, query);
      keep_new(rows * statistic_bytes(query.dtype(), settings_));  // logsumexp
      return;
    }
    keep_math(node, query, key, value, rows);
  }

  /// A boolean mask becomes a mask of 0 and -inf.
  void keep_mask(const Value& mask, const Value& query) {
    if (mask.dtype().id() == TMETER_DTYPE_BOOL)
      keep_new(mask.numel() * element_bytes(query.dtype(), settings_));
    else
      keep(mask);
  }

  /// _scaled_dot_product_attention_math: query and key are scaled by the root of the scale, then
  /// softmax(q · kᵀ) · v.
  void keep_math(const Node& node, const Value& query, const Value& key, const Value& value,
                 Count rows) {
    const bool q = gradients_.of(query), k = gradients_.of(key), v = gradients_.of(value);
    const auto scores = rows * key.shape()[-2] * element_bytes(query.dtype(), settings_);
    if (k) keep_new(size_of(query));
    if (q) keep_new(size_of(key));
    if (q || k) keep_new(scores);  // the softmax
    const bool drops = node.arg("dropout_p").as_float() > 0;
    if (drops && (q || k)) keep_new(scores);  // the noise of the dropout
    if (v && drops) keep_new(scores);
    if (v && !drops && !q && !k) keep_new(scores);
    // The value is multiplied as a batch of matrices, of which it may have to be a copy.
    if (q || k)
      keep_in_batch(value, dims_of(value.shape()),
                    batch_dims(dims_of(query.shape()), dims_of(value.shape())), false);
  }

  const tmeter::Graph& graph_;
  const Gradients& gradients_;
  const Settings settings_;
  Placement placement_;
  Tape tape_;
  uint32_t node_ = 0;
  bool has_rule_ = true;
};

}  // namespace

Tape record_tape(const tmeter::Graph& graph, const Gradients& gradients, const Settings& settings) {
  return TapeRecorder(graph, gradients, settings).run();
}

}  // namespace training
