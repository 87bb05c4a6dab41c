// The parts of a layer. Each finds its weights by structure, compares them with the configuration,
// and writes its operators.
#pragma once
#include <set>
#include <string>

#include "families.hpp"
#include "program.hpp"

namespace blueprint {

struct Model {
  Program& program;
  const Settings& settings;
  const Family* family;  // null: a model type outside the table of checked ones
  std::set<std::string> assumptions{}, warnings{};
  // Properties of the current stack of layers.
  bool bidirectional = false;  // every token attends to every token: no cache, no causal mask
  Keys heads = kHeads;
  Tensor table{};                       // embeddings
  Value tokens{};                       // their embeddings
  std::vector<Module> shared_blocks{};  // used by several layers, in the order of their weights
  size_t shared_uses = 0;               // number of layers so far that use one
  size_t mixtures = 0;                  // number of layers so far that have experts
  int64_t window = 0;                   // tokens in a window of Longformer
  Size windows{};                       // number of windows

  bool is(std::string_view trait) const { return has_trait(family, trait); }
  void assume(std::string text) { assumptions.insert(std::move(text)); }
};

/// Weights and configuration differ. Throws Contradiction for checked model types, whose weights
/// are then damaged or of another model; UnsupportedStructure for other types.
[[noreturn]] void contradict(const Model& model, const std::string& statement, const Tensor& t);

/// Calls contradict() if one of the keys is set to another number.
void expect_stated(const Model& model, const Keys& keys, int64_t found, const Tensor& t);
/// The same for checked model types only: other types may use the key differently.
void expect_if_checked(const Model& model, const Keys& keys, int64_t found, const Tensor& t);

/// Whether the class in the configuration is for this task: "MaskedLM".
bool is_for(const Model& model, std::string_view task);

/// The part of the past that an attention sees and keeps.
struct AttentionSpan {
  std::string_view kind = "full";  // full, sliding, chunked, none
  int64_t tokens = 0;              // in a window or chunk
};
AttentionSpan span_of_layer(Model& model, size_t layer);

/// Attention of tokens x [batch, sequence, hidden] to themselves, or to `memory`.
Value write_attention(Model& model, const Module& m, const Value& x, size_t layer,
                      const Value* memory);

/// [batch, sequence, n × width] → [batch, n, sequence, width]
Value by_head(Program& p, const Value& x, int64_t n, int64_t width);

/// Longformer's attention (sliding_chunks.cpp). Its layers need whole windows of tokens.
bool slides_by_chunks(const Model& model, const Module& m);
Value in_whole_windows(Model& model, const Value& x);
/// Removes the padding after `tokens`; returns x in other models.
Value without_filling(Model& model, const Value& x, const Size& tokens);
/// q, k, v: [batch, heads, tokens, width].
Value attend_by_chunks(Model& model, const Module& m, const Value& q, const Value& k,
                       const Value& v, size_t layer);

/// The role of an MLP in its layer. Configurations state a width for each role.
enum class Role { kDense, kExpert, kShared };

/// An MLP, or a mixture of experts.
Value feed_forward(Model& model, const Module& m, const Value& x, size_t layer,
                   Role role = Role::kDense);

/// The product of x and a module's weights, in their stored orientation.
Value project(Model& model, const Module& m, const Value& x);
/// y, plus the adapter's narrow matrices applied to x if `m` has a list of adapters with that name.
/// Each use of a shared block has an adapter of its own.
Value adapted(Model& model, const Module& m, std::string_view list, const Value& x, const Value& y);

/// Throws Contradiction unless the width between the matrices of an MLP, and the kind of the layer
/// (dense, mixture) are the stated ones. `t`: the tensor with that width.
void expect_width(const Model& model, const Tensor& t, int64_t width, size_t layer,
                  Role role = Role::kDense);
/// The first part of a layer.
enum class Part { kAttention, kMixer, kMlp, kMixture };
/// Throws Contradiction if layer_types states another kind than that of `m`, the layer's first
/// part.
void expect_kind(const Model& model, Part part, const Module& m, size_t layer);
/// The same for shared experts, which every token uses.
void expect_shared(const Model& model, bool is_there, const Tensor& t, size_t layer);

/// Whether the layer keeps states instead of keys and values.
bool is_mixer(const Module& m);
Value mix_tokens(Model& model, const Module& m, const Value& x);
bool is_delta_rule(const Module& m);
Value write_delta_rule(Model& model, const Module& m, const Value& x);
/// A convolution of each channel over preceding tokens. `m` keeps its last inputs.
Value causal_convolution(Model& model, const Module& m, const Module& conv, const Value& x,
                         bool activated = true);

/// Marks parameters as used that no operator multiplies.
void use_all(Model& model, const Module& m);

/// The operator between the matrices of an MLP.
std::string activation(const Model& model);

/// Writes the whole program.
void write_model(Model& model, const tmeter::Graph& weights);

}  // namespace blueprint
