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

  bool is(std::string_view trait) const { return has_trait(family, trait); }
  void assume(std::string text) { assumptions.insert(std::move(text)); }
};

/// How much of the past an attention sees and keeps.
struct Reach {
  std::string_view kind = "full";  // full, sliding, chunked, none
  int64_t tokens = 0;              // of a window or chunk
};
Reach reach_of_layer(Model& model, size_t layer);

/// Self-attention of tokens x [batch, sequence, hidden].
Value self_attention(Model& model, const Module& m, const Value& x, size_t layer);

/// An MLP, or a mixture of them.
Value feed_forward(Model& model, const Module& m, const Value& x, size_t layer);

/// x by the weights of a module, the way they lie.
Value project(Model& model, const Module& m, const Value& x);

/// An operator without a rule for each module below whose tensors no part has used.
Value leftovers(Model& model, const Module& m, const Value& x);

/// Embedding, layers, norm and head.
void write_decoder(Model& model, const tmeter::Graph& weights);

}  // namespace blueprint
