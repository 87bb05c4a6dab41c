// The parts of a layer. Each finds its weights by structure, checks them against the configuration,
// and writes its operators down.
#pragma once
#include <set>
#include <string>

#include "families.hpp"
#include "program.hpp"

namespace blueprint {

struct Model {
  Program& program;
  const Settings& settings;
  const Family* family;  // null: a type that was not checked
  std::set<std::string> assumptions{}, warnings{};
  // Of the stack that is being written.
  bool bidirectional = false;  // every token attends to every token: no cache, no causal mask
  Keys heads = kHeads;
  Tensor table{};                       // of embeddings
  Value tokens{};                       // as the table has them
  std::vector<Module> shared_blocks{};  // that several layers use, in the order of their weights
  size_t shared_uses = 0;               // layers so far that use one of them
  int64_t window = 0;                   // tokens of a window of Longformer
  Size windows{};                       // their number

  bool is(std::string_view trait) const { return has_trait(family, trait); }
  void assume(std::string text) { assumptions.insert(std::move(text)); }
};

/// Of a type that was checked, weights that are not as the configuration says are damaged or
/// another model's: throws Contradiction; for other types, NotUnderstood.
[[noreturn]] void contradict(const Model& model, const std::string& said, const Tensor& t);

/// contradict() if one of the keys is set, and to another number.
void expect_stated(const Model& model, const Keys& keys, int64_t found, const Tensor& t);
/// The same for a key that means something else in some types: only of a type that was checked.
void expect_if_checked(const Model& model, const Keys& keys, int64_t found, const Tensor& t);

/// How much of the past an attention sees and keeps.
struct Reach {
  std::string_view kind = "full";  // full, sliding, chunked, none
  int64_t tokens = 0;              // of a window or chunk
};
Reach reach_of_layer(Model& model, size_t layer);

/// Attention of tokens x [batch, sequence, hidden] to themselves, or to `memory`.
Value write_attention(Model& model, const Module& m, const Value& x, size_t layer,
                      const Value* memory);

/// Longformer's attention (sliding_chunks.cpp). Its layers see whole windows of tokens.
bool slides_by_chunks(const Model& model, const Module& m);
Value in_whole_windows(Model& model, const Value& x);
/// The first `tokens` of them; x as it is in other models.
Value without_filling(Model& model, const Value& x, const Size& tokens);
/// q, k, v: [batch, heads, tokens, width].
Value attend_by_chunks(Model& model, const Module& m, const Value& q, const Value& k,
                       const Value& v, size_t layer);

/// What an MLP is in its layer: configurations state widths by that.
enum class Role { kDense, kExpert, kShared };

/// An MLP, or a mixture of them.
Value feed_forward(Model& model, const Module& m, const Value& x, size_t layer,
                   Role role = Role::kDense);

/// x by the weights of a module, the way they lie.
Value project(Model& model, const Module& m, const Value& x);
/// y; plus x through the narrow matrices of an adapter, where `m` has a list of that name. Each use
/// of a shared block has its own adapter.
Value adapted(Model& model, const Module& m, std::string_view list, const Value& x, const Value& y);

/// The width between the matrices of an MLP is the stated one, and the layer is dense or a mixture
/// as stated; `t` is the tensor that shows it. Throws Contradiction.
void expect_width(const Model& model, const Tensor& t, int64_t width, size_t layer,
                  Role role = Role::kDense);
/// What a layer begins with.
enum class Part { kAttention, kMixer, kMlp, kMixture };
/// Where layer_types names the layer's kind, `m`, its first part, is of that kind. Throws
/// Contradiction.
void expect_kind(const Model& model, Part part, const Module& m, size_t layer);
/// The same for shared experts beside those that a token is sent to.
void expect_shared(const Model& model, bool is_there, const Tensor& t, size_t layer);

/// A layer that keeps states instead of keys and values.
bool is_mixer(const Module& m);
Value mix_tokens(Model& model, const Module& m, const Value& x);
bool is_delta_rule(const Module& m);
Value write_delta_rule(Model& model, const Module& m, const Value& x);
/// A convolution of each channel over the tokens before, whose input `m` keeps the last of.
Value causal_convolution(Model& model, const Module& m, const Module& conv, const Value& x,
                         bool activated = true);

/// Marks parameters as used that nothing multiplies in the run.
void use_all(Model& model, const Module& m);

/// The operator between the matrices of an MLP.
std::string activation(const Model& model);

/// The program of all.
void write_model(Model& model, const tmeter::Graph& weights);

}  // namespace blueprint
