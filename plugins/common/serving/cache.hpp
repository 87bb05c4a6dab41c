// The memory that a layer keeps between tokens: keys and values, or the states of a recurrence.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace serving {

enum class CacheKind {
  kFull,     // keys and values of the whole context
  kSliding,  // of the last `window` tokens
  kChunked,  // of the chunk of `window` tokens that the token is in
  kLatent,   // one latent vector per token instead of keys and values (multi-head latent attention)
  kShared,   // the keys and values of an earlier layer: nothing of its own
  kCross,    // keys and values of `window` encoder positions, independent of the context
  kState,    // states of a recurrence, independent of the context
};

/// One layer. Elements, not bytes: an engine chooses the element types.
struct LayerCache {
  CacheKind kind = CacheKind::kFull;
  int64_t heads = 0;        // of keys and values
  int64_t queries = 0;      // heads of queries; 0: not known
  int64_t key_width = 0;    // of one head; of the latent vector with its rotary part
  int64_t value_width = 0;  // 0 for kLatent
  int64_t window = 0;
  int64_t conv_elements = 0, state_elements = 0;  // of one sequence, kState
  std::string place;                              // the operator or module, for messages

  int64_t elements_per_token() const { return heads * (key_width + value_width); }
};

}  // namespace serving
