#include "samples.hpp"

#include <algorithm>
#include <array>

namespace tmeter::resize {
namespace {

enum class Rule {
  kLastTwo,      // attention: tokens and width
  kAllButFirst,  // convolutions, norms, pooling on [batch, channels, …]
  kDims,         // the dims named by `dim`, or all of them
  kDimsIfGiven,  // as kDims, but without `dim` no dim is mixed (flip, cat)
  kBothLastTwo,  // products of two tensors that both depend on the input
  kRecurrent,    // the batch is dim 0 or 1 by batch_first
};

struct MixRow {
  std::string_view op;  // beginning of the name, in-place forms included
  std::string_view argument;
  Rule rule;
};
constexpr std::array<MixRow, 58> kMixRows{{
    {"aten::scaled_dot_product", "query", Rule::kLastTwo},
    {"aten::scaled_dot_product", "key", Rule::kLastTwo},
    {"aten::_scaled_dot_product", "query", Rule::kLastTwo},
    {"aten::_scaled_dot_product", "key", Rule::kLastTwo},
    {"aten::conv", "input", Rule::kAllButFirst},
    {"aten::batch_norm", "input", Rule::kAllButFirst},
    {"aten::instance_norm", "input", Rule::kAllButFirst},
    {"aten::group_norm", "input", Rule::kAllButFirst},
    {"aten::max_pool", "self", Rule::kAllButFirst},
    {"aten::avg_pool", "self", Rule::kAllButFirst},
    {"aten::adaptive_", "self", Rule::kAllButFirst},
    {"aten::upsample_", "self", Rule::kAllButFirst},
    {"aten::grid_sampler", "input", Rule::kAllButFirst},
    {"aten::lstm", "input", Rule::kRecurrent},
    {"aten::gru", "input", Rule::kRecurrent},
    {"aten::rnn_", "input", Rule::kRecurrent},
    {"aten::matmul", "self", Rule::kBothLastTwo},
    {"aten::bmm", "self", Rule::kBothLastTwo},
    {"aten::mm", "self", Rule::kBothLastTwo},
    {"aten::softmax", "self", Rule::kDims},
    {"aten::_softmax", "self", Rule::kDims},
    {"aten::log_softmax", "self", Rule::kDims},
    {"aten::_log_softmax", "self", Rule::kDims},
    {"aten::logsumexp", "self", Rule::kDims},
    {"aten::sum", "self", Rule::kDims},
    {"aten::mean", "self", Rule::kDims},
    {"aten::var", "self", Rule::kDims},
    {"aten::std", "self", Rule::kDims},
    {"aten::prod", "self", Rule::kDims},
    {"aten::amax", "self", Rule::kDims},
    {"aten::amin", "self", Rule::kDims},
    {"aten::argmax", "self", Rule::kDims},
    {"aten::argmin", "self", Rule::kDims},
    {"aten::max.dim", "self", Rule::kDims},
    {"aten::min.dim", "self", Rule::kDims},
    {"aten::any", "self", Rule::kDims},
    {"aten::all", "self", Rule::kDims},
    {"aten::linalg_vector_norm", "self", Rule::kDims},
    {"aten::norm", "self", Rule::kDims},
    {"aten::cumsum", "self", Rule::kDimsIfGiven},
    {"aten::cumprod", "self", Rule::kDimsIfGiven},
    {"aten::sort", "self", Rule::kDimsIfGiven},
    {"aten::topk", "self", Rule::kDimsIfGiven},
    {"aten::gather", "self", Rule::kDimsIfGiven},
    {"aten::select", "self", Rule::kDimsIfGiven},
    {"aten::slice", "self", Rule::kDimsIfGiven},
    {"aten::narrow", "self", Rule::kDimsIfGiven},
    {"aten::index_select", "self", Rule::kDimsIfGiven},
    {"aten::split", "self", Rule::kDimsIfGiven},
    {"aten::chunk", "self", Rule::kDimsIfGiven},
    {"aten::unbind", "self", Rule::kDimsIfGiven},
    {"aten::glu", "self", Rule::kDimsIfGiven},
    {"aten::cat", "tensors", Rule::kDimsIfGiven},
    {"aten::concat", "tensors", Rule::kDimsIfGiven},
    {"aten::squeeze", "self", Rule::kDimsIfGiven},
    {"aten::roll", "self", Rule::kDimsIfGiven},
    {"aten::flip", "self", Rule::kDimsIfGiven},
    {"aten::diagonal", "self", Rule::kLastTwo},
}};

/// Per dim, whether it has changed; all of them when the rank has.
std::vector<bool> changed_dims(const Value& v, const ReplayedSizes& base, const Environment& now) {
  const auto* value = now.find(v);
  if (!value || !value->isTensor()) return {};
  const auto before = dims_in(base, v);
  const auto after = value->toTensor().sizes();
  std::vector<bool> out(after.size(), before.size() != after.size());
  for (size_t i = 0; i < after.size() && before.size() == after.size(); ++i)
    out[i] = before[i] != after[i];
  return out;
}

bool any(const std::vector<bool>& changed, size_t from, size_t to) {
  return std::find(changed.begin() + static_cast<ptrdiff_t>(from),
                   changed.begin() + static_cast<ptrdiff_t>(to),
                   true) != changed.begin() + static_cast<ptrdiff_t>(to);
}

bool last_two(const std::vector<bool>& changed) {
  return any(changed, changed.size() < 2 ? 0 : changed.size() - 2, changed.size());
}

bool named_dims(const Node& node, const std::vector<bool>& changed, bool none_means_all) {
  auto dims = node.arg("dim");
  if (!dims.handle()) dims = node.arg("dims");
  if (dims.is_none() || (dims.is_list() && dims.size() == 0))
    return none_means_all && any(changed, 0, changed.size());
  const auto rank = static_cast<int64_t>(changed.size());
  const auto hits = [&](const Value& v) {
    const int64_t d = v.as_int() < 0 ? v.as_int() + rank : v.as_int();
    return d >= 0 && d < rank && changed[static_cast<size_t>(d)];
  };
  if (!dims.is_list()) return hits(dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (hits(dims[i])) return true;
  }
  return false;
}

/// A product mixes samples if both operands have changed dims, one of them among the last two.
bool product_mixes(const Node& node, const std::vector<bool>& left, const ReplayedSizes& base,
                   const Environment& now) {
  auto other = node.arg("other");
  if (!other.handle()) other = node.arg("mat2");
  const auto right = changed_dims(other, base, now);
  return any(left, 0, left.size()) && any(right, 0, right.size()) &&
         (last_two(left) || last_two(right));
}

bool breaks(Rule rule, const Node& node, const std::vector<bool>& changed,
            const ReplayedSizes& base, const Environment& now) {
  switch (rule) {
    case Rule::kLastTwo:
      return last_two(changed);
    case Rule::kAllButFirst:
      return changed.size() > 1 && any(changed, 1, changed.size());
    case Rule::kDims:
      return named_dims(node, changed, /*none_means_all=*/true);
    case Rule::kDimsIfGiven:
      return named_dims(node, changed, /*none_means_all=*/false);
    case Rule::kBothLastTwo:
      return product_mixes(node, changed, base, now);
    case Rule::kRecurrent: {
      const bool steps_first = !node.arg("batch_first").as_bool();
      return changed.size() == 3 && (changed[steps_first ? 0 : 1] || changed[2]);
    }
  }
  return false;
}

}  // namespace

std::optional<SizeChange> change_of_samples(const std::vector<DimsChange>& inputs) {
  std::optional<SizeChange> found;
  for (const auto& input : inputs) {
    for (size_t d = 0; d < input.now.size(); ++d) {
      if (input.recorded[d] == input.now[d]) continue;
      const SizeChange change{input.recorded[d], input.now[d]};
      if (d != 0 || (found && *found != change)) return std::nullopt;
      found = change;
    }
  }
  return found;
}

void check_samples_stay_apart(const Node& node, const ReplayedSizes& base, const Environment& now) {
  const auto name = full_name(node);
  for (const auto& row : kMixRows) {
    if (!name.starts_with(row.op)) continue;
    for_each_tensor_value(node.arg(row.argument), [&](const Value& v) {
      if (breaks(row.rule, node, changed_dims(v, base, now), base, now))
        throw std::runtime_error("combines the samples of a batch");
    });
  }
}

void check_equal_samples(const Node& node, const ReplayedSizes& base, const Environment& now,
                         const std::function<bool(const Value&)>& depends_on_literal) {
  struct Pair {
    std::string_view op, left, right;
  };
  static constexpr std::array<Pair, 4> kPairs{{{"aten::scaled_dot_product", "query", "key"},
                                               {"aten::_scaled_dot_product", "query", "key"},
                                               {"aten::matmul", "self", "other"},
                                               {"aten::bmm", "self", "mat2"}}};
  for (const auto& pair : kPairs) {
    if (!node.op().starts_with(pair.op)) continue;
    const auto left = node.arg(pair.left), right = node.arg(pair.right);
    const auto l = changed_dims(left, base, now), r = changed_dims(right, base, now);
    const bool l_changed = any(l, 0, l.size()), r_changed = any(r, 0, r.size());
    if (l_changed == r_changed || !depends_on_literal(l_changed ? right : left)) continue;
    throw std::runtime_error("combines tensors with different numbers of samples");
  }
}

}  // namespace tmeter::resize
