#include "weight_tree.hpp"

#include <algorithm>
#include <array>
#include <tmeter/cpp/natural_order.hpp>

#include "bad_file.hpp"

namespace loading {
namespace {

constexpr size_t kLongestName = 64 * 1024;

// As transformers' modules register them, beside nn.BatchNorm*: tables of positions (Swin, BART,
// rotary embeddings), causal masks (GPT-2), counts of codebooks (EnCodec, Mimi), decays of linear
// attention (MiniMax), ranges and scales (Gemma 4), weights of losses (Mask2Former), experts of a
// token (DeepSeek-V4). Sorted.
constexpr std::array<std::string_view, 37> kBufferNames{"attn_mask_probs",
                                                        "balancing_biases",
                                                        "cluster_size",
                                                        "cluster_usage",
                                                        "diagonal_decay",
                                                        "embed_avg",
                                                        "embed_sum",
                                                        "empty_weight",
                                                        "final_logits_bias",
                                                        "global_invstd",
                                                        "global_mean",
                                                        "inited",
                                                        "initialized",
                                                        "input_max",
                                                        "input_min",
                                                        "inv_freq",
                                                        "key_decay",
                                                        "latent_mean",
                                                        "latent_std",
                                                        "layer_scalar",
                                                        "masked_bias",
                                                        "norm_mean",
                                                        "norm_std",
                                                        "num_batches_tracked",
                                                        "output_max",
                                                        "output_min",
                                                        "position_ids",
                                                        "query_decay",
                                                        "relative_coords_table",
                                                        "relative_position_index",
                                                        "running_mean",
                                                        "running_var",
                                                        "slope_rate",
                                                        "std_bias",
                                                        "std_scale",
                                                        "tid2eid",
                                                        "token_type_ids"};

}  // namespace

bool is_buffer(std::string_view name, tmeter::DType dtype) {
  if (dtype.id() == TMETER_DTYPE_BOOL || dtype.id() == TMETER_DTYPE_INT64) return true;
  const auto last = name.substr(name.rfind('.') + 1);
  // The bias of a mixture's router: training changes it without gradients. ERNIE's is a parameter
  // of its own module.
  if (last == "e_score_correction_bias") return name.find("moe_statics.") == name.npos;
  // The same in DeepSeek's own names, in LFM2's and Kolibri's; AFMoE's expert_bias is a parameter.
  // Constants of Apertus' activation; the codes of EnCodec.
  for (const auto* other : {"ffn.gate.bias", "feed_forward.expert_bias", "moe.router.expert_bias",
                            "mlp.act_fn.beta", "mlp.act_fn.eps", "codebook.embed"})
    if (name.ends_with(other)) return true;
  return std::binary_search(kBufferNames.begin(), kBufferNames.end(), last);
}

void check_name(std::string_view name) {
  if (name.size() > kLongestName)
    throw BadFile("a tensor has a name of " + std::to_string(name.size()) + " bytes");
  if (!is_utf8(name)) throw BadFile("the name of a tensor is not UTF-8");
}

tmeter_id WeightTree::owner_of(std::string_view tensor_name) {
  if (in_order_ && !tmeter::natural_less(last_, tensor_name)) {
    children_.insert(made_.begin(), made_.end());
    made_ = {};
    in_order_ = false;
  }
  const auto same = tmeter::natural_order::same_bytes(last_, tensor_name);
  while (!last_modules_.empty() && last_modules_.back().first >= same) last_modules_.pop_back();
  tmeter_id module = last_modules_.empty() ? root_ : last_modules_.back().second;
  size_t begin = last_modules_.empty() ? 0 : last_modules_.back().first + 1;
  for (size_t dot; (dot = tensor_name.find('.', begin)) != std::string_view::npos;
       begin = dot + 1) {
    module = child(module, tensor_name.substr(begin, dot - begin));
    last_modules_.emplace_back(dot, module);
  }
  last_ = tensor_name;
  return module;
}

tmeter_id WeightTree::child(tmeter_id parent, std::string_view name) {
  if (const auto it = children_.find({parent, name}); it != children_.end()) return it->second;
  auto* kept = static_cast<char*>(texts_.allocate(name.size() + 1, 1));
  std::copy(name.begin(), name.end(), kept);
  const std::pair made{Child{parent, {kept, name.size()}}, graph_.module(parent, name, "")};
  if (in_order_)
    made_.push_back(made);
  else
    children_.insert(made);
  return made.second;
}

void WeightTree::add(tmeter_tensor_desc tensor) {
  if (!is_buffer(tmeter::to_view(tensor.name), tmeter::DType(tensor.dtype)))
    return add_parameter(tensor, true);
  add_buffer(tensor);
}

void WeightTree::add_buffer(tmeter_tensor_desc tensor) {
  tensor.kind = TMETER_TENSOR_BUFFER;
  push(tensor);
}

void WeightTree::add_parameter(tmeter_tensor_desc tensor, bool trainable) {
  tensor.kind = TMETER_TENSOR_PARAMETER;
  tensor.trainable = trainable;
  push(tensor);
}

void WeightTree::push(tmeter_tensor_desc& tensor) {
  const auto name = tmeter::to_view(tensor.name);
  check_name(name);
  if (tensor.owner == 0) tensor.owner = owner_of(name);
  graph_.tensor(tensor);
}

}  // namespace loading
