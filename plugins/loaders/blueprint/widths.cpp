// The widths between the matrices of MLPs, and which layers are mixtures, as configurations state
// them.
#include <algorithm>
#include <iterator>

#include "parts.hpp"

namespace blueprint {
namespace {

struct Stated {
  int64_t width = 0;  // 0: nothing is stated
  std::string statement;
};

// The first key that is set counts.
const Keys kDenseWidths{"intermediate_size_mlp",
                        "prefix_dense_intermediate_size",
                        "block_ff_dim",
                        "intermediate_size",
                        "ffn_dim",
                        "ffn_hidden_size",
                        "n_inner",
                        "d_ff",
                        "hidden_dim"};
const Keys kEncoderWidths{"encoder_ffn_dim"}, kDecoderWidths{"decoder_ffn_dim"};
const Keys kExpertWidths{"moe_intermediate_size", "intermediate_size", "ffn_dim",
                         "ffn_hidden_size"};
const Keys kSharedWidths{"shared_expert_intermediate_size", "shared_intermediate_size",
                         "moe_shared_expert_intermediate_size"};
const Keys kLayerKinds{"layer_types", "layers_block_type"};
// Layers by their only or first part, as lists name them and as Nemotron-H's pattern does.
constexpr std::pair<std::string_view, Part> kKinds[] = {
    {"linear_attention", Part::kMixer},
    {"mamba", Part::kMixer},
    {"conv", Part::kMixer},
    {"M", Part::kMixer},
    {"full_attention", Part::kAttention},
    {"attention", Part::kAttention},
    {"sliding_attention", Part::kAttention},
    {"*", Part::kAttention},
    {"mlp", Part::kMlp},
    {"-", Part::kMlp},
    {"moe", Part::kMixture},
    {"E", Part::kMixture},
};
const Keys kSharedExperts{"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"};

Stated first_of(const Settings& s, const Keys& keys, size_t layer) {
  for (const auto key : keys)
    if (const auto n = s.integer_of_layer({key}, layer); n && *n > 0)
      return {*n, s.statement({key}, *n)};
  return {};
}

/// LFM2 computes the width from the stated one (Lfm2MLP of transformers).
Stated adjusted(const Settings& s, Stated stated) {
  if (!s.flag({"block_auto_adjust_ff_dim"}, false)) return stated;
  const auto multiple = s.integer({"block_multiple_of"}).value_or(256);
  const auto factor = s.number({"block_ffn_dim_multiplier"}).value_or(1);
  const auto two_thirds = static_cast<double>(stated.width * 2 / 3);
  if (multiple == 0 || !(factor >= 0 && factor <= 1e6)) return {};
  const auto width = static_cast<int64_t>(factor * two_thirds);
  stated.width = (width + multiple - 1) / multiple * multiple;
  stated.statement += ", which block_auto_adjust_ff_dim makes " + std::to_string(stated.width);
  return stated;
}

/// Shared experts are side by side.
Stated side_by_side(const Settings& s, size_t layer) {
  auto each = first_of(s, kExpertWidths, layer);
  const auto count = s.integer(kSharedExperts).value_or(0);
  if (each.width == 0 || count == 0) return {};
  if (count > 1) each.statement = s.statement(kSharedExperts, count) + " and " + each.statement;
  if (__builtin_mul_overflow(each.width, count, &each.width)) each.width = INT64_MAX;
  return each;
}

Stated stated_width(const Model& model, Role role, size_t layer) {
  const auto& s = model.settings;
  if (role == Role::kDense) {
    const auto own = first_of(s, model.bidirectional ? kEncoderWidths : kDecoderWidths, layer);
    return own.width > 0 ? own : adjusted(s, first_of(s, kDenseWidths, layer));
  }
  if (role == Role::kExpert) return first_of(s, kExpertWidths, layer);
  const auto own = first_of(s, kSharedWidths, layer);
  return own.width > 0 ? own : side_by_side(s, layer);
}

bool lists(const Settings& s, std::string_view key, int64_t layer) {
  for (size_t i = 0; i < s.length({key}); ++i)
    if (s.integer_of_layer({key}, i) == layer) return true;
  return false;
}

/// The statement of config.json that makes this layer the other kind; empty without one.
std::string contradicting_statement(const Settings& s, size_t layer, bool is_mixture) {
  const auto index = static_cast<int64_t>(layer);
  if (const auto kind = s.text_of_layer({"mlp_layer_types"}, layer); !kind.empty()) {
    if (kind != (is_mixture ? "dense" : "sparse")) return {};
    return "mlp_layer_types has '" + std::string(kind) + "' for layer " + std::to_string(layer);
  }
  const Keys dense_layers{"first_k_dense_replace", "num_dense_layers"};
  if (const auto first = s.integer(dense_layers); first && (index >= *first) != is_mixture)
    return s.statement(dense_layers, *first);
  const auto step = s.integer({"decoder_sparse_step"}).value_or(0);
  if (step == 0 || s.integer(kExperts).value_or(0) == 0) return {};
  const bool listed = lists(s, "mlp_only_layers", index);
  const bool sparse = !listed && (index + 1) % step == 0;
  if (sparse != is_mixture)
    return listed ? "mlp_only_layers has " + std::to_string(layer)
                  : s.statement({"decoder_sparse_step"}, step);
  return {};
}

}  // namespace

void expect_width(const Model& model, const Tensor& t, int64_t width, size_t layer, Role role) {
  if (!model.family) return;
  const auto none = [&](const Keys& keys) {
    const auto n = model.settings.length(keys) > layer
                       ? model.settings.integer_of_layer(keys, layer)
                       : std::nullopt;
    return n && *n == 0;
  };
  // In a list by layer, 0 means that the layer has none.
  if (const Keys dense{"intermediate_size"}; role == Role::kDense && none(dense))
    contradict(model, model.settings.statement(dense, 0) + " for layer " + std::to_string(layer),
               t);
  const auto stated = stated_width(model, role, layer);
  if (stated.width > 0 && width != stated.width) contradict(model, stated.statement, t);
  if (role == Role::kShared) return;
  const auto contradiction = contradicting_statement(model.settings, layer, role == Role::kExpert);
  if (!contradiction.empty()) contradict(model, contradiction, t);
}

void expect_kind(const Model& model, Part part, const Module& m, size_t layer) {
  const auto& s = model.settings;
  auto keys = kLayerKinds;
  auto kind = s.text_of_layer(keys, layer);
  if (const auto pattern = s.text({"hybrid_override_pattern"}); kind.empty()) {
    if (layer >= pattern.size()) return;
    kind = pattern.substr(layer, 1), keys = {"hybrid_override_pattern"};
  }
  const auto* row = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const auto& k) { return k.first == kind; });
  if (row == std::end(kKinds) || row->second == part) return;
  auto shown = m;
  while (shown.tensor_count() == 0 && shown.child_count() > 0) shown = shown.child(0);
  if (shown.tensor_count() > 0)
    contradict(model,
               std::string(s.name(keys)) + " has '" + std::string(kind) + "' for layer " +
                   std::to_string(layer),
               shown.tensor(0));
}

void expect_shared(const Model& model, bool is_there, const Tensor& t, size_t layer) {
  if (!model.family) return;
  const auto& s = model.settings;
  // Their width or their number, or the family's word where a configuration has no key for them.
  for (const auto& keys : {kSharedWidths, kSharedExperts}) {
    const auto stated = s.integer_of_layer(keys, layer);
    if (!stated) continue;
    if ((*stated > 0) != is_there) contradict(model, s.statement(keys, *stated), t);
    return;
  }
  if (!is_there && model.is("shared-experts"))
    contradict(
        model,
        "model_type is " + std::string(model.family->type) + ", whose mixtures have shared experts",
        t);
}

}  // namespace blueprint
