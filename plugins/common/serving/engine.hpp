// Bytes that an inference engine allocates for the caches of a model.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace serving {

// The memory that a layer keeps between tokens: keys and values, or the states of a recurrence.

enum class CacheKind {
  kFull,     // keys and values of the whole context
  kSliding,  // keys and values of the last `window` tokens
  kChunked,  // keys and values of the token's chunk of `window` tokens
  kLatent,   // one latent vector per token instead of keys and values (multi-head latent attention)
  kShared,   // shares the keys and values of an earlier layer
  kCross,    // keys and values of `window` encoder positions, independent of the context
  kState,    // states of a recurrence, independent of the context
};

/// One layer. Elements, not bytes: an engine chooses the element types.
struct LayerCache {
  CacheKind kind = CacheKind::kFull;
  int64_t heads = 0;        // heads of keys and values
  int64_t queries = 0;      // heads of queries; 0: unknown
  int64_t key_width = 0;    // width of one head, or of the latent vector with its rotary part
  int64_t value_width = 0;  // 0 for kLatent
  int64_t window = 0;
  int64_t conv_elements = 0, state_elements = 0;  // of one sequence, for kState
  std::string place;                              // the operator or module, for messages

  int64_t elements_per_token() const { return heads * (key_width + value_width); }
};

// Sources of the sizes (read 2026-11): llama.cpp src/llama-kv-cache*.cpp,
// llama-memory-recurrent.cpp, llama-hparams.cpp, llama-context.cpp,
// tools/server/server-context.cpp; vLLM vllm/v1/kv_cache_interface.py, kv_cache_utils.py,
// vllm/config/model.py; transformers src/transformers/cache_utils.py,
// generation/stopping_criteria.py 5.x.

/// An element type of caches. Blocks: `bytes` for `elements` elements.
struct CacheType {
  std::string_view name;
  int64_t bytes, elements;
};

/// Empty for a name unknown to all engines.
std::optional<CacheType> cache_type(std::string_view name);
std::string_view cache_type_names();

/// The rule of an engine that is not in the table, from the options serving.own-*.
struct OwnRule {
  int64_t padding = 1;       // the number of kept tokens is a multiple of this
  int64_t window_extra = 0;  // tokens kept in addition to a window's
  int64_t state_bytes = 0;   // of an element of a state; 0: as keys and values
  int64_t reads = 1;         // reads of a key or value in a step
};

/// The load under which the model is served.
struct Load {
  int64_t context = 0;    // tokens of each sequence, prompt and answer
  int64_t sequences = 1;  // simultaneous sequences
  int64_t batch = 0;      // tokens per step of prefill; 0: the engine's default
  CacheType cache{"f16", 2, 1};
  int64_t devices = 1;  // devices that share the layers or, in vLLM, the heads of each layer
  OwnRule own{};        // for "own"
};

/// The memory of all devices together.
struct CacheBytes {
  tmeter::Count keys_values = 0, states = 0;
  std::vector<tmeter::Count> layers;  // bytes of each layer, both kinds
  std::string unavailable;            // why the engine's rule gives no value; empty if it does
  int64_t reads = 1;                  // reads of a key or value in a step

  tmeter::Count all() const { return keys_values + states; }
  tmeter::Count read_by_step() const { return keys_values * reads + states; }
};

/// The rule of one engine, by name: "llama.cpp", "vllm", "transformers", "own".
struct Engine {
  std::string_view name;
  std::string_view rule;    // one sentence, for the convention of the metrics
  std::string_view beyond;  // treatment of a context that is longer than the model's
  double memory_share;      // default share of a device's memory
  CacheBytes (*bytes)(const std::vector<LayerCache>&, const Load&);
  /// Seconds of a step in addition to its products, for each sequence; 0: no published
  /// measurements.
  double sequence_seconds = 0;
};

const Engine* engine(std::string_view name);
std::string_view engine_names();

}  // namespace serving
#pragma GCC visibility pop
