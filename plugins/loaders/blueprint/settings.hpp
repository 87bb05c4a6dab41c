// The configuration of a model, in the vocabulary of config.json.
#pragma once
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace blueprint {

/// A contradiction between configuration and weights, or a number beyond reason: the model is
/// refused.
class Contradiction : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws for a number that no model has, for any type of model.
class BadNumber : public Contradiction {
 public:
  using Contradiction::Contradiction;
};

/// A structure of unknown kind: only the weights are reported, with this reason.
class UnsupportedStructure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Spellings of one key; the first that is set counts.
using Keys = std::vector<std::string_view>;

class Settings {
 public:
  /// The settings in config.json.
  explicit Settings(const tmeter::Graph& weights);
  /// Empty settings, to be filled from another vocabulary; `source` is its name in messages.
  explicit Settings(std::string source) : source_(std::move(source)) {}
  void set(std::string_view key, const tmeter::Metadata& value);
  /// One text per layer, or one for all.
  void set(std::string_view key, std::vector<std::string> texts);
  /// A number that follows from others.
  void set(std::string_view key, int64_t number);

  void forget(const std::string& key) { facts_.erase(key); }

  /// "config.json", for messages.
  const std::string& source() const { return source_; }

  /// Empty for a key that is not set. Throws Contradiction for a value that is not an
  /// integer, negative or beyond 2^40.
  std::optional<int64_t> integer(const Keys& keys) const;
  /// An array by layer, or one value for all.
  std::optional<int64_t> integer_of_layer(const Keys& keys, size_t layer) const;
  std::optional<double> number(const Keys& keys) const;
  bool flag(const Keys& keys, bool fallback) const;
  std::string_view text(const Keys& keys) const;
  std::string_view text_of_layer(const Keys& keys, size_t layer) const;
  /// Items of an array; 0 for anything else.
  size_t length(const Keys& keys) const;
  bool has(const Keys& keys) const { return find(keys) != nullptr || find_number(keys); }
  /// The first of the keys that is set, for messages; else the first.
  std::string_view name(const Keys& keys) const;
  /// "vocab_size is 99", for messages.
  std::string statement(const Keys& keys, int64_t value) const;

 private:
  const tmeter::Metadata* find(const Keys& keys) const;
  int64_t checked(const tmeter::Metadata& m, uint32_t i) const;
  const std::vector<std::string>* find_texts(const Keys& keys) const;
  std::optional<int64_t> find_number(const Keys& keys) const;

  std::string source_;
  std::map<std::string, tmeter::Metadata, std::less<>> facts_;
  std::map<std::string, std::vector<std::string>, std::less<>> texts_;
  std::map<std::string, int64_t, std::less<>> numbers_;
};

// The vocabulary: the names of one thing in different models of transformers.
inline const Keys kLayers{"num_hidden_layers", "n_layer", "num_layers", "n_layers"};
inline const Keys kHidden{"hidden_size", "n_embd", "d_model", "dim", "n_embed"};
inline const Keys kHeads{"num_attention_heads", "n_head", "num_heads", "n_heads",
                         "attention_heads"};
inline const Keys kKeyHeads{"num_key_value_heads", "num_kv_heads", "n_head_kv", "num_query_groups",
                            "multi_query_group_num"};
inline const Keys kHeadWidth{"head_dim", "attention_head_dim", "kv_channels", "d_kv"};
inline const Keys kVocabulary{"vocab_size"};
inline const Keys kChosenExperts{
    "num_experts_per_tok", "top_k_experts", "moe_topk", "moe_k", "num_experts_per_token", "top_k",
    "num_selected_experts"};
inline const Keys kExperts{"num_local_experts", "num_experts", "n_routed_experts",
                           "moe_num_experts"};
inline const Keys kWindow{"sliding_window", "attention_window_size", "sliding_window_size"};

}  // namespace blueprint
