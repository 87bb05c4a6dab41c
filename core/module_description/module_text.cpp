#include "core/module_description/module_text.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/base/text.hpp"
#include "core/module_description/module_attributes.hpp"

namespace tmeter::core {
namespace {

using Text = std::optional<std::string>;  // empty: a value is unknown

/// Substrings of the names of operators with a kernel.
constexpr std::array kConvolutions{"conv", "_convolution"}, kPoolings{"max_pool", "avg_pool"};

/// The notation of a type: a recipe reads the attributes; `detail` is its parameter.
struct Recipe {
  std::string_view type;
  Text (*write)(const ModuleAttributes&, std::string_view detail);
  std::string_view detail;
};

std::string yes_no(bool b) { return b ? "True" : "False"; }

bool all(const std::vector<int64_t>& items, int64_t value) {
  return std::all_of(items.begin(), items.end(), [=](int64_t i) { return i == value; });
}

/// "3" if all are 3, else "(3, 5)".
std::string compact(const std::vector<int64_t>& items) {
  return !items.empty() && all(items, items[0]) ? std::to_string(items[0]) : python_tuple(items);
}

std::string dims_text(std::span<const int64_t> dims) {
  return python_tuple({dims.begin(), dims.end()});
}

const Node* convolution_in(const ModuleAttributes& m) {
  for (const char* op : kConvolutions)
    if (const auto* node = m.node(op)) return node;
  return nullptr;
}

Text convolution(const ModuleAttributes& m, std::string_view detail) {
  const bool transposed = detail == "transposed";
  const auto* weight = m.tensor("weight");
  const auto* node = convolution_in(m);
  if (!weight || weight->dims.size() < 3 || (!node && !m.attribute("stride"))) return {};
  // Padding other than with zeros is a separate operator, which does not show the mode.
  if (m.node("pad") && !m.attribute("padding_mode")) return {};
  const size_t rank = weight->dims.size() - 2;
  const auto list = [&](std::string_view name, int64_t otherwise) {
    auto items = m.integers(node, name, rank);
    return items.empty() ? std::vector<int64_t>(rank, otherwise) : items;
  };
  const int64_t groups = m.integer(node, "groups").value_or(1);
  const int64_t in = weight->dims[transposed ? 0 : 1] * (transposed ? 1 : groups);
  const int64_t out = weight->dims[transposed ? 1 : 0] * (transposed ? groups : 1);
  std::string text = std::to_string(in) + ", " + std::to_string(out) +
                     ", kernel_size=" + dims_text(weight->dims.subspan(2)) +
                     ", stride=" + python_tuple(list("stride", 1));
  const auto* padding = m.field(node, "padding");
  if (padding && padding->kind == TMETER_VALUE_TEXT) {
    if (padding->text != "valid") text += ", padding=" + std::string(padding->text);
  } else if (const auto p = list("padding", 0); !all(p, 0)) {
    text += ", padding=" + python_tuple(p);
  }
  if (const auto d = list("dilation", 1); !all(d, 1)) text += ", dilation=" + python_tuple(d);
  if (const auto p = list("output_padding", 0); transposed && !all(p, 0))
    text += ", output_padding=" + python_tuple(p);
  if (groups != 1) text += ", groups=" + std::to_string(groups);
  if (!m.tensor("bias")) text += ", bias=False";
  const auto* mode = m.attribute("padding_mode");
  if (mode && mode->text != "zeros") text += ", padding_mode=" + std::string(mode->text);
  return text;
}

Text linear(const ModuleAttributes& m, std::string_view) {
  const auto* w = m.tensor("weight");
  if (!w || w->dims.size() != 2) return {};
  return "in_features=" + std::to_string(w->dims[1]) +
         ", out_features=" + std::to_string(w->dims[0]) + ", bias=" + yes_no(m.tensor("bias"));
}

Text batch_norm(const ModuleAttributes& m, std::string_view op) {
  const auto* sized = m.tensor("weight") ? m.tensor("weight") : m.tensor("running_mean");
  const auto* node = m.node(op);
  const auto *eps = m.field(node, "eps"), *momentum = m.field(node, "momentum");
  if (!sized || sized->dims.empty() || !eps || !momentum) return {};
  return std::to_string(sized->dims[0]) + ", eps=" + python_text(*eps) +
         ", momentum=" + python_text(*momentum) + ", affine=" + yes_no(m.tensor("weight")) +
         ", bias=" + yes_no(m.tensor("bias")) +
         ", track_running_stats=" + yes_no(m.tensor("running_mean"));
}

Text layer_norm(const ModuleAttributes& m, std::string_view op) {
  const auto* node = m.node(op);
  const auto shape = m.integers(node, "normalized_shape", 1);
  if (shape.empty()) return {};
  const auto* eps = m.field(node, "eps");
  const bool rms = op == "rms_norm";
  std::string text = python_tuple(shape) + ", eps=" +
                     (eps   ? python_text(*eps)
                      : rms ? "None"
                            : python_text(1e-5)) +
                     ", elementwise_affine=" + yes_no(m.tensor("weight"));
  if (!rms) text += ", bias=" + yes_no(m.tensor("bias"));
  return text;
}

Text group_norm(const ModuleAttributes& m, std::string_view) {
  const auto* node = m.node("group_norm");
  const auto groups = node ? m.integer(node, "num_groups") : std::nullopt;
  const auto* input = node && !node->args.empty() ? node->args[0].value : nullptr;
  if (!groups || !input || input->dims.size() < 2) return {};
  const auto* eps = m.field(node, "eps");
  return std::to_string(*groups) + ", " + std::to_string(input->dims[1]) +
         ", eps=" + (eps ? python_text(*eps) : python_text(1e-5)) +
         ", affine=" + yes_no(m.tensor("weight")) + ", bias=" + yes_no(m.tensor("bias"));
}

Text embedding(const ModuleAttributes& m, std::string_view) {
  const auto* w = m.tensor("weight");
  if (!w || w->dims.size() != 2) return {};
  const auto padding = m.integer(m.node("embedding"), "padding_idx").value_or(-1);
  return std::to_string(w->dims[0]) + ", " + std::to_string(w->dims[1]) +
         (padding >= 0 ? ", padding_idx=" + std::to_string(padding) : "");
}

/// A type without arguments, or with "inplace" if the operator changes its argument.
Text plain(const ModuleAttributes& m, std::string_view op) {
  const auto* node = op.empty() ? nullptr : m.node(op);
  return node && node->op.ends_with('_') ? "inplace=True" : "";
}

/// "op label=argument label=argument …", each with `|default` when the file may leave it out.
Text labelled(const ModuleAttributes& m, std::string_view detail) {
  const auto* node = m.node(detail.substr(0, detail.find(' ')));
  std::string text;
  for (size_t at = detail.find(' '); at != detail.npos;) {
    const size_t end = detail.find(' ', at + 1);
    auto item = detail.substr(at + 1, end == detail.npos ? end : end - at - 1);
    at = end;
    const size_t bar = item.find('|');
    const auto otherwise = bar == item.npos ? std::string_view() : item.substr(bar + 1);
    item = item.substr(0, bar);
    const size_t equals = item.find('=');
    const auto* value = m.field(node, item.substr(equals + 1));
    if (!value && (otherwise.empty() || !node)) return {};
    text += (text.empty() ? "" : ", ") + std::string(item.substr(0, equals)) + "=" +
            (value ? python_text(*value) : std::string(otherwise));
  }
  if (node && node->op.ends_with('_')) text += ", inplace=True";
  return text;
}

Text dropout(const ModuleAttributes& m, std::string_view op) {
  const auto* node = m.node(op);
  const auto* p = m.field(node, "p");
  if (!p) return {};
  return "p=" + python_text(*p) + ", inplace=" + yes_no(node && node->op.ends_with('_'));
}

Text pooling(const ModuleAttributes& m, std::string_view op) {
  const auto* node = m.node(op);
  const size_t rank = static_cast<size_t>(op.back() == 'd' ? op[op.size() - 2] - '0' : 2);
  const auto kernel = m.integers(node, "kernel_size", rank);
  if (kernel.empty()) return {};
  auto stride = m.integers(node, "stride", rank);
  auto padding = m.integers(node, "padding", rank);
  auto dilation = m.integers(node, "dilation", rank);
  if (stride.empty()) stride = kernel;
  if (padding.empty()) padding.assign(rank, 0);
  if (dilation.empty()) dilation.assign(rank, 1);
  std::string text = "kernel_size=" + compact(kernel) + ", stride=" + compact(stride) +
                     ", padding=" + compact(padding);
  if (!op.starts_with("max")) return text;
  const auto* ceil = m.field(node, "ceil_mode");
  return text + ", dilation=" + compact(dilation) + ", ceil_mode=" + yes_no(ceil && ceil->i);
}

Text adaptive_pooling(const ModuleAttributes& m, std::string_view op) {
  const auto size = m.integers(m.node(op), "output_size", 1);
  if (size.empty()) return {};
  return "output_size=" + (size.size() > 1 ? python_tuple(size) : compact(size));
}

Text recurrent(const ModuleAttributes& m, std::string_view op) {
  const auto* w = m.tensor("weight_ih_l0");
  const auto* node = m.node(op);
  if (!w || w->dims.size() != 2 || (!node && !m.attribute("num_layers"))) return {};
  const int64_t gates = op == "lstm" ? 4 : op == "gru" ? 3 : 1;
  std::string text = std::to_string(w->dims[1]) + ", " + std::to_string(w->dims[0] / gates);
  if (const auto* p = m.tensor("weight_hr_l0")) text += ", proj_size=" + std::to_string(p->dims[0]);
  const auto layers = m.integer(node, "num_layers").value_or(1);
  if (layers != 1) text += ", num_layers=" + std::to_string(layers);
  if (!m.tensor("bias_ih_l0")) text += ", bias=False";
  const auto flag = [&](std::string_view name) {
    const auto* value = m.field(node, name);
    return value && value->i != 0;
  };
  if (flag("batch_first")) text += ", batch_first=True";
  const auto* p = m.field(node, "dropout");
  if (p && p->f != 0) text += ", dropout=" + python_text(*p);
  if (flag("bidirectional")) text += ", bidirectional=True";
  return text;
}

constexpr std::array kRecipes{
    Recipe{"AdaptiveAvgPool1d", adaptive_pooling, "adaptive_avg_pool1d"},
    Recipe{"AdaptiveAvgPool2d", adaptive_pooling, "adaptive_avg_pool2d"},
    Recipe{"AdaptiveAvgPool3d", adaptive_pooling, "adaptive_avg_pool3d"},
    Recipe{"AdaptiveMaxPool2d", adaptive_pooling, "adaptive_max_pool2d"},
    Recipe{"AvgPool2d", pooling, "avg_pool2d"},
    Recipe{"AvgPool3d", pooling, "avg_pool3d"},
    Recipe{"BatchNorm1d", batch_norm, "batch_norm"},
    Recipe{"BatchNorm2d", batch_norm, "batch_norm"},
    Recipe{"BatchNorm3d", batch_norm, "batch_norm"},
    Recipe{"Conv1d", convolution, ""},
    Recipe{"Conv2d", convolution, ""},
    Recipe{"Conv3d", convolution, ""},
    Recipe{"ConvTranspose1d", convolution, "transposed"},
    Recipe{"ConvTranspose2d", convolution, "transposed"},
    Recipe{"ConvTranspose3d", convolution, "transposed"},
    Recipe{"Dropout", dropout, "dropout"},
    Recipe{"Dropout2d", dropout, "feature_dropout"},
    Recipe{"ELU", labelled, "elu alpha=alpha|1.0"},
    Recipe{"Embedding", embedding, ""},
    Recipe{"Flatten", labelled, "flatten start_dim=start_dim|0 end_dim=end_dim|-1"},
    Recipe{"GELU", labelled, "gelu approximate=approximate|'none'"},
    Recipe{"GLU", labelled, "glu dim=dim|-1"},
    Recipe{"GRU", recurrent, "gru"},
    Recipe{"GroupNorm", group_norm, ""},
    Recipe{"Hardsigmoid", plain, ""},
    Recipe{"Hardswish", plain, ""},
    Recipe{"Hardtanh", labelled, "hardtanh min_val=min_val|-1.0 max_val=max_val|1.0"},
    Recipe{"Identity", plain, ""},
    Recipe{"LSTM", recurrent, "lstm"},
    Recipe{"LayerNorm", layer_norm, "layer_norm"},
    Recipe{"LeakyReLU", labelled, "leaky_relu negative_slope=negative_slope|0.01"},
    Recipe{"Linear", linear, ""},
    Recipe{"LogSoftmax", labelled, "log_softmax dim=dim"},
    Recipe{"MaxPool1d", pooling, "max_pool1d"},
    Recipe{"MaxPool2d", pooling, "max_pool2d"},
    Recipe{"MaxPool3d", pooling, "max_pool3d"},
    Recipe{"Mish", plain, "mish"},
    Recipe{"PixelShuffle", labelled, "pixel_shuffle upscale_factor=upscale_factor"},
    Recipe{"RMSNorm", layer_norm, "rms_norm"},
    Recipe{"RNN", recurrent, "rnn"},
    Recipe{"ReLU", plain, "relu"},
    Recipe{"ReLU6", plain, "hardtanh"},
    Recipe{"SiLU", plain, "silu"},
    Recipe{"Sigmoid", plain, ""},
    Recipe{"Softmax", labelled, "softmax dim=dim"},
    Recipe{"Tanh", plain, ""},
};

/// Finds recipes by type. Equal types are one text in a graph and need one look-up.
class Recipes {
 public:
  const std::vector<const Recipe*>& of(std::string_view type) {
    const auto [it, is_new] = cache_.try_emplace(type.data());
    if (is_new)
      for (const auto& recipe : kRecipes)
        if (recipe.type == type) it->second.push_back(&recipe);
    return it->second;
  }

 private:
  /// The recipes of a type; the key is the address of its text.
  std::unordered_map<const char*, std::vector<const Recipe*>> cache_;
};

using Nodes = std::span<const Node* const>;

std::string text_of(const Module& module, Nodes nodes, Recipes& recipes) {
  const auto type = module.type.substr(module.type.rfind('.') + 1);
  if (!module.type.starts_with("torch.nn.") || !module.children.empty()) return std::string(type);
  for (const auto* recipe : recipes.of(type)) {
    const auto inside = recipe->write(ModuleAttributes(module, nodes), recipe->detail);
    if (!inside) continue;
    std::string text;
    text.reserve(type.size() + inside->size() + 2);
    return std::move(text.append(type).append("(").append(*inside).append(")"));
  }
  return std::string(type);
}

/// From the weight of a convolution (named after its type or not), or a pooling's argument.
std::string kernel_size_of(const ModuleAttributes& m) {
  std::vector<int64_t> kernel;
  const auto* weight = m.tensor("weight");
  if (convolution_in(m) && weight && weight->dims.size() > 2)
    kernel.assign(weight->dims.begin() + 2, weight->dims.end());
  else
    kernel = m.integers(nullptr, "kernel_size", 1);
  for (const char* op : kPoolings)
    if (const auto* node = m.node(op); kernel.empty() && node)
      kernel = m.integers(node, "kernel_size", 1);
  return kernel.empty() ? std::string() : shape_text(kernel);
}

/// The operators that each module itself runs, module by module.
class NodesOfModules {
 public:
  explicit NodesOfModules(const Graph& graph) : begins_(graph.modules().size() + 1) {
    const auto& b = graph.ownership();
    const auto module_of = [&](size_t node) { return b.module_of_call[b.call_of_node[node]]; };
    const size_t n = graph.nodes().size();
    for (size_t i = 0; i < n; ++i) ++begins_[module_of(i) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    auto ends = begins_;
    nodes_.resize(n);
    for (size_t i = 0; i < n; ++i) nodes_[ends[module_of(i)]++] = &graph.nodes()[i];
  }
  Nodes of(const Module& m) const {
    return Nodes(nodes_).subspan(begins_[m.index], begins_[m.index + 1] - begins_[m.index]);
  }

 private:
  std::vector<size_t> begins_;
  std::vector<const Node*> nodes_;
};

/// Tests operators for a kernel by name, each name once.
class WithKernel {
 public:
  bool any(Nodes nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [this](const Node* n) { return is_one(n->op); });
  }

 private:
  bool is_one(std::string_view op) {
    const auto [it, is_new] = cache_.try_emplace(op.data());
    if (is_new) {
      const auto named = [op](const char* name) { return op.find(name) != op.npos; };
      it->second =
          std::ranges::any_of(kConvolutions, named) || std::ranges::any_of(kPoolings, named);
    }
    return it->second;
  }
  std::unordered_map<const char*, bool> cache_;  // by address of the name's text
};

}  // namespace

ModuleTexts module_texts(const Graph& graph) {
  const NodesOfModules all(graph);
  ModuleTexts texts;
  texts.whole.reserve(graph.modules().size());
  Recipes recipes;
  WithKernel with_kernel;
  for (const auto* m : graph.modules()) {
    const auto nodes = all.of(*m);
    texts.whole.push_back(text_of(*m, nodes, recipes));
    const bool may_have = !m->attributes.empty() || with_kernel.any(nodes);
    if (may_have) {
      texts.kernel_size.resize(m->index + 1);
      texts.kernel_size.back() = kernel_size_of(ModuleAttributes(*m, nodes));
    }
  }
  return texts;
}

}  // namespace tmeter::core
