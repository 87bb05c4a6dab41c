// Properties of model types that structure does not show, one row per type.
#pragma once
#include <span>
#include <string_view>

namespace blueprint {

/// A model type of transformers whose totals were compared with the library's own
/// (docs/blueprint.md).
struct Family {
  std::string_view type;         // model_type of config.json
  std::string_view traits = {};  // words below
};

// clang-format off
// Traits, separated by spaces:
//   encoder          every token attends to every token: no cache, no causal mask
//   transposed       weights of products are [in, out] (GPT-2's Conv1D)
//   full-each-N      without `layer_types`, all layers except every Nth have the window
//   chunked-each-4   all layers except every 4th see chunks of 8192 tokens
//   sliding-if-said  the window holds from layer `max_window_layers` on, if `use_sliding_window` is set
//   multi-query      `multi_query`: all heads share one key and value
//   no-cache         causal, and the library keeps nothing of the past
//   pair             an encoder, and a decoder that attends to its output
//   image            over patches of an image
//   sliding-chunks   Longformer's attention in windows (sliding_chunks.cpp)
//   positions-from-2 the table of positions has two rows more than positions
//   gated-queries    the projection of queries has a gate of the same width for each head
//   shared-experts   every mixture has experts for all tokens, without a key for it
//   any-expansion    `expand` is not the width of state-space layers
//   writes-text      scores of the vocabulary, though every token attends to every token
//   all-experts      every token goes through every expert
//   two-experts      a token goes through two experts, whatever the configuration states
// clang-format on

/// Null for a type that was not checked.
const Family* find_family(std::string_view model_type);
std::span<const Family> families();
bool has_trait(const Family* family, std::string_view trait);

}  // namespace blueprint
