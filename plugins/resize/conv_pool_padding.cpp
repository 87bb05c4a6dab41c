#include "conv_pool_padding.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tmeter::resize {
namespace {

struct WindowRow {
  std::string_view op;
  size_t rank;  // spatial dims; 0: as many as the weight has
  bool pools;
};
constexpr std::array<WindowRow, 14> kWindows{{
    {"aten::conv1d", 1, false},
    {"aten::conv2d", 2, false},
    {"aten::conv3d", 3, false},
    {"aten::convolution", 0, false},
    {"aten::_convolution", 0, false},
    {"aten::max_pool1d", 1, true},
    {"aten::max_pool2d", 2, true},
    {"aten::max_pool3d", 3, true},
    {"aten::max_pool1d_with_indices", 1, true},
    {"aten::max_pool2d_with_indices", 2, true},
    {"aten::max_pool3d_with_indices", 3, true},
    {"aten::avg_pool1d", 1, true},
    {"aten::avg_pool2d", 2, true},
    {"aten::avg_pool3d", 3, true},
}};
constexpr int64_t kMaxWindowSize = int64_t{1} << 30;  // a product of two fits
constexpr std::array<std::string_view, 2> kPaddingNames{"aten::pad", "aten::constant_pad_nd"};

const WindowRow* window_row(const Node& node) {
  const auto* row = std::find_if(kWindows.begin(), kWindows.end(),
                                 [&](const WindowRow& r) { return r.op == node.op(); });
  return row == kWindows.end() ? nullptr : row;
}

/// The plain numbers of an argument; empty if an item is computed or not an integer.
std::optional<Sizes> plain_numbers(const Value& v) {
  Sizes out;
  const auto add = [&](const Value& item) {
    const bool plain = item.kind() == TMETER_VALUE_INT && !item.producer();
    if (plain) out.push_back(item.as_int());
    return plain;
  };
  if (!v.is_list()) return add(v) ? std::optional(out) : std::nullopt;
  for (size_t i = 0; i < v.size(); ++i) {
    if (!add(v[i])) return std::nullopt;
  }
  return out;
}

/// An argument for `rank` dims: a number for each, one for all, or `fallback` if absent.
std::optional<Sizes> per_dim(const Value& v, size_t rank, const Sizes& fallback) {
  if (v.is_none() || (v.is_list() && v.size() == 0)) return fallback;
  auto out = plain_numbers(v);
  if (out && out->size() == 1) out->assign(rank, out->front());
  return out && out->size() == rank ? out : std::nullopt;
}

std::optional<Sizes> paddings(const Node& node, size_t rank) {
  const auto v = node.arg("padding");
  if (v.kind() == TMETER_VALUE_TEXT)  // for "same" the operator computes the padding
    return v.text() == "valid" ? std::optional(Sizes(rank, 0)) : std::nullopt;
  return per_dim(v, rank, Sizes(rank, 0));
}

std::optional<Sizes> kernel_of(const Node& node, const WindowRow& row, size_t rank) {
  if (row.pools) return per_dim(node.arg("kernel_size"), rank, {});
  const auto weight = node.arg("weight").shape();
  if (weight.rank() != static_cast<int64_t>(rank) + 2) return std::nullopt;
  return Sizes(weight.begin() + 2, weight.end());
}

Value operand_of(const Node& node) { return node.arg(size_t{0}); }

/// The window's dims for its recorded operand, and its own padding.
std::optional<PaddedWindow> window_of(const Node& node, const WindowRow& row) {
  const auto weight_rank = static_cast<size_t>(node.arg("weight").shape().rank());
  const size_t rank = row.rank ? row.rank : std::max<size_t>(weight_rank, 2) - 2;
  const auto operand = operand_of(node);
  if (!operand.is_tensor() || rank == 0 || operand.shape().rank() < static_cast<int64_t>(rank) ||
      node.arg("transposed").as_bool())
    return std::nullopt;
  const auto kernel = kernel_of(node, row, rank);
  if (!kernel || kernel->size() != rank) return std::nullopt;
  const auto stride = per_dim(node.arg("stride"), rank, row.pools ? *kernel : Sizes(rank, 1));
  const auto dilation = per_dim(node.arg("dilation"), rank, Sizes(rank, 1));
  const auto padding = paddings(node, rank);
  if (!stride || !dilation || !padding) return std::nullopt;
  PaddedWindow out;
  out.owner = std::string(node.call().module().qualified_type());
  const auto sizes = sizes_of(operand.shape());
  for (size_t i = 0; i < rank; ++i) {
    out.dims.push_back(
        {sizes[sizes.size() - rank + i], (*kernel)[i], (*stride)[i], (*dilation)[i]});
    out.pads.push_back({(*padding)[i], (*padding)[i]});
    for (const auto n : {(*kernel)[i], (*stride)[i], (*dilation)[i]}) {
      if (n < 1 || n > kMaxWindowSize) return std::nullopt;
    }
  }
  return out;
}

/// The pads of aten::pad, which lists pairs from the last dim on; dims without a pair are not
/// padded.
std::optional<std::vector<Pad>> pads_of(const Node& node, size_t rank) {
  const auto numbers = plain_numbers(node.arg("pad"));
  if (!numbers || numbers->size() % 2) return std::nullopt;
  std::vector<Pad> out(rank);
  for (size_t i = 0; i < numbers->size() / 2; ++i) {
    const Pad pad{(*numbers)[2 * i], (*numbers)[2 * i + 1]};
    if (i < rank)
      out[rank - 1 - i] = pad;
    else if (pad != Pad{})
      return std::nullopt;
  }
  return out;
}

/// The window with the operand of the operator that pads it.
std::optional<PaddedWindow> with_padding(PaddedWindow window, const Node& padding,
                                         const Node& node) {
  const bool twice = window.pads != std::vector<Pad>(window.pads.size());
  const auto pads = pads_of(padding, window.dims.size());
  if (twice || !pads) return std::nullopt;
  window.pads = *pads;
  const auto sizes = sizes_of(operand_of(padding).shape());
  if (sizes.size() < pads->size()) return std::nullopt;
  for (size_t i = 0; i < pads->size(); ++i)
    window.dims[i].size = sizes[sizes.size() - pads->size() + i];
  window.owner = std::string(padding.call().module().qualified_type());
  window.by_node = true;
  window.in_one_module = padding.call().index() == node.call().index();
  return window;
}

/// The pads as an argument of aten::pad with at least `length` numbers.
Sizes as_argument(const std::vector<Pad>& pads, size_t length) {
  Sizes out;
  for (size_t i = pads.size(); i-- > 0;) {
    out.push_back(pads[i].before);
    out.push_back(pads[i].after);
  }
  out.resize(std::max(length, out.size()), 0);
  return out;
}

/// Sets the new padding of a window: in its argument if that can express it, else as a separate
/// node.
void pad_window(const Node& node, const std::vector<Pad>& pads, Repadding& out) {
  const auto argument = node.arg("padding");
  const bool even =
      std::all_of(pads.begin(), pads.end(), [](const Pad& p) { return p.before == p.after; });
  const bool written = argument.is_list() && argument.size() == pads.size();
  if (even && written) {
    out.literal = Literal{"padding", {}};
    for (const auto& p : pads) out.literal->sizes.push_back(p.before);
    return;
  }
  out.inserted = as_argument(pads, 0);
  if (argument.is_list()) out.literal = Literal{"padding", Sizes(argument.size(), 0)};
  if (argument.kind() == TMETER_VALUE_INT) out.literal = Literal{"padding", {0}};
}

size_t differing(const std::vector<Pad>& a, const std::vector<Pad>& b) {
  size_t count = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    count += static_cast<size_t>(a[i].before != b[i].before) +
             static_cast<size_t>(a[i].after != b[i].after);
  return count;
}

}  // namespace

bool is_padding(const Node& node) {
  const auto mode = node.arg("mode");
  return std::find(kPaddingNames.begin(), kPaddingNames.end(), node.op()) != kPaddingNames.end() &&
         (mode.is_none() || mode.text() == "constant");
}

ConvPoolPadding::ConvPoolPadding(const Graph& recorded) {
  std::unordered_map<size_t, size_t> uses;  // of a node's results
  for (const auto& node : recorded.nodes()) {
    for (size_t i = 0; i < node.arg_count(); ++i) {
      for_each_tensor_value(node.arg(i), [&](const Value& v) {
        if (const auto made_by = v.producer()) ++uses[made_by.index()];
      });
    }
  }
  for (const auto& node : recorded.nodes()) {
    const auto* row = window_row(node);
    auto window = row ? window_of(node, *row) : std::nullopt;
    if (!window) continue;
    const auto padding = operand_of(node).producer();
    if (!padding || !is_padding(padding)) {
      at_[node.index()].push_back(*window);
    } else if (const auto padded = with_padding(*window, padding, node)) {
      at_[padding.index()].push_back(*padded);
    }
  }
  std::erase_if(at_, [&](const auto& entry) {
    const auto& [node, windows] = entry;
    return windows.front().by_node && uses[node] != windows.size();
  });
  for (const auto& [node, windows] : at_) {
    for (const auto& w : windows) evidence_.add(w);
  }
}

std::optional<Value> ConvPoolPadding::padded_at(const Node& node) const {
  return at_.contains(node.index()) ? std::optional(operand_of(node)) : std::nullopt;
}

std::optional<Repadding> ConvPoolPadding::repadded(const Node& node, const Sizes& operand) const {
  Repadding out;
  std::vector<Pad> pads;
  for (auto w : at_.at(node.index())) {
    out.estimate = evidence_.estimate(w);
    const size_t rank = w.dims.size();
    if (operand.size() < rank) return std::nullopt;
    for (size_t i = 0; i < rank; ++i) w.dims[i].size = operand[operand.size() - rank + i];
    const auto same = same_pads(w.dims);
    const bool surely_fixed = out.estimate.kind == PaddingKind::kFixed && out.estimate.sure;
    // One operator cannot serve windows that need different pads.
    if (surely_fixed || (!pads.empty() && pads != same)) return std::nullopt;
    pads = same;
    out.count = differing(w.pads, same);
  }
  if (out.count == 0) return std::nullopt;
  if (out.estimate.kind == PaddingKind::kFixed) return out;
  if (is_padding(node))
    out.literal = Literal{"pad", as_argument(pads, node.arg("pad").size())};
  else
    pad_window(node, pads, out);
  return out;
}

}  // namespace tmeter::resize
