// What structure cannot tell of a model's type: a row each.
#pragma once
#include <span>
#include <string_view>

namespace blueprint {

/// A model type of transformers whose figures were held against the library's own
/// (docs/blueprint.md).
struct Family {
  std::string_view type;         // model_type of config.json
  std::string_view traits = {};  // words below
};

// Traits, separated by spaces:
//   encoder          every token attends to every token: no cache, no causal mask
//   transposed       weights of products are [in, out] (GPT-2's Conv1D)
//   sliding-unless   `sliding_window` counts only with `use_sliding_window`
//   window-default   without `layer_types`, `sliding_window` holds for every layer
//   heads-in-fused   the fused projection has query, key and value of a head together (no other
//   figure depends on it) multi-query      `multi_query` says that all heads share one key and
//   value all-experts      every token goes through every expert tied             the head is the
//   embedding unless `tie_word_embeddings` is false

/// Null for a type that nobody has checked.
const Family* find_family(std::string_view model_type);
std::span<const Family> families();
bool has_trait(const Family* family, std::string_view trait);

}  // namespace blueprint
