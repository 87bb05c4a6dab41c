// Recognises a decoder language model by what it computes: token ids from an input are looked up in
// a table, and every attention is causal. Of a model with an encoder the loader says what is which.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#pragma GCC visibility push(hidden)  // as the SDK types inside
namespace plugins {

/// One attention of the tokens, causal or to what an encoder made, and what a cache of its keys and
/// values would hold.
struct Attention {
  tmeter::Node node;
  tmeter::Count key_elements, value_elements;  // before key/value heads are repeated for groups
  tmeter::Count cache_bytes = 0;
  int64_t heads = 0, key_heads = 0, width = 0;
  std::string_view kind = {};  // "latent", "grouped", "cross", …, where the loader says it
  int64_t cache_width = 0;     // then: elements that are kept of a token
  int64_t window = 0;          // tokens that it sees at most; 0: all
  bool chunked = false;        // the window is a chunk that the token is in

  /// Keys and values are those of an encoder, however many tokens there are.
  bool is_cross() const { return kind == "cross"; }
};

/// What a layer without keys and values keeps of each sequence: elements.
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
  tmeter::Count cache_bytes() const;          // of all sequences
  tmeter::Count state_bytes() const;          // of all sequences
  tmeter::Count growing_cache_bytes() const;  // without the keys and values of an encoder
};

/// The loader says that a further token does not run it: an encoder, or a projection of its
/// output.
bool runs_once(const tmeter::Node& n);

/// Nothing unless the graph is visibly a decoder language model.
std::optional<Decoder> recognise(const tmeter::Graph& graph);

}  // namespace plugins
#pragma GCC visibility pop
