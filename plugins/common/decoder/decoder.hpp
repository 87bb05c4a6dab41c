// Recognises a decoder language model by its computation: token ids from an input select rows of a
// table, and every attention is causal. For a model with an encoder, the loader states the roles.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace plugins {

/// One attention over the tokens, causal or to an encoder's output, and the size of its key-value
/// cache.
struct Attention {
  tmeter::Node node;
  tmeter::Count key_elements, value_elements;  // before key/value heads are repeated for groups
  tmeter::Count cache_bytes = 0;
  int64_t heads = 0, key_heads = 0, width = 0;
  std::string_view kind = {};  // "latent", "grouped", "cross", … as stated by the loader
  int64_t cache_width = 0;     // if `kind` is set: elements cached per token
  int64_t window = 0;          // tokens that it sees at most; 0: all
  bool chunked = false;        // the window is a chunk that the token is in

  /// Keys and values come from an encoder. Their number does not depend on the tokens.
  bool is_cross() const { return kind == "cross"; }
};

/// State of a layer without keys and values, in elements per sequence.
struct State {
  tmeter::Module module;
  int64_t conv = 0;       // the last inputs of a convolution, in the type of the model
  int64_t recurrent = 0;  // float32

  tmeter::Count bytes(tmeter::DType model) const {
    return tmeter::Count(conv) * model.bytes() + tmeter::Count(recurrent) * 4;
  }
};

struct Decoder {
  tmeter::Node embedding = tmeter::Node();
  int64_t batch = 0, length = 0;  // sequences, and tokens in each
  std::vector<Attention> attentions{};
  std::vector<State> states{};

  tmeter::Count tokens() const { return tmeter::Count(batch) * length; }
  tmeter::Count cache_bytes() const;          // over all sequences
  tmeter::Count state_bytes() const;          // over all sequences
  tmeter::Count growing_cache_bytes() const;  // without the keys and values of an encoder
};

/// True if the loader states that a further token does not run the operator: an encoder, or a
/// projection of its output.
bool runs_once(const tmeter::Node& n);

/// Nothing unless the graph is recognised as a decoder language model.
std::optional<Decoder> recognise(const tmeter::Graph& graph);

}  // namespace plugins
#pragma GCC visibility pop
