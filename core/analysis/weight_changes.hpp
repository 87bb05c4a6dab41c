// The values of two models' tensors compared, pair by pair, for `tmeter diff`.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/graph.hpp"
#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {

// Rows of queries and keys in a GGUF file of a llama: converters put the two halves of each head's
// rotation beside each other (convert_hf_to_gguf.py, LlamaModel.permute).

struct RowOrder {
  int64_t head = 0;  // rows of one head; 0: the order of the other file

  /// The index of this row in the other file.
  int64_t of(int64_t row) const {
    if (head == 0) return row;
    const int64_t in_head = row % head, half = head / 2;
    return row - in_head + in_head % half * 2 + in_head / half;
  }
};

inline std::optional<int64_t> stated_in_gguf(const Graph& graph, const std::string& key) {
  const auto* m = graph.find_metadata("gguf", key);
  if (!m || m->is_array || m->ints.size() != 1) return std::nullopt;
  return m->ints[0];
}

/// The order of a GGUF tensor whose rows may be permuted; empty for other tensors.
inline std::optional<RowOrder> row_order(const Graph& graph, const Tensor& t) {
  const bool query = t.name.find(".attn_q.") != t.name.npos,
             key = t.name.find(".attn_k.") != t.name.npos;
  const auto* architecture = graph.find_metadata("gguf", "general.architecture");
  if (!(query || key) || !architecture || architecture->texts.empty() || t.dims.empty())
    return std::nullopt;
  const auto begin =
      std::string(architecture->texts[0].ptr, architecture->texts[0].len) + ".attention.head_count";
  const auto heads = stated_in_gguf(graph, begin);
  const auto count =
      key ? stated_in_gguf(graph, begin + "_kv").value_or(heads.value_or(0)) : heads.value_or(0);
  if (count <= 0 || t.dims[0] % count != 0 || t.dims[0] / count % 2 != 0) return std::nullopt;
  return RowOrder{t.dims[0] / count};
}

/// The comparison of two tensors of the same shape.
struct WeightChange {
  const Tensor *before = nullptr, *after = nullptr;
  int64_t differing = 0;         // elements
  double largest = 0;            // of |after − before|, over elements that are numbers in both
  double signal = 0, noise = 0;  // sums of before² and (after − before)² over the same elements
  int64_t nan_before = 0, nan_after = 0;  // elements that are NaN or infinite
  /// Signal-to-quantization-noise ratio in dB; infinite where nothing differs.
  double sqnr() const;
};

struct WeightChanges {
  std::vector<WeightChange> changed;  // most noise in relation to the signal first
  size_t equal = 0;                   // pairs with equal bits, or with equal numbers in two types
  std::vector<std::pair<const Tensor*, std::string>> unread;  // with the reason
};

using TensorPairs = std::vector<std::pair<const Tensor*, const Tensor*>>;

/// A model's tensors and their bytes.
struct ReadableWeights {
  const Graph& graph;
  const TensorBytes& bytes;
};

/// Reads every pair once, and again if one file may have another order of rows
/// (RowOrder); the closer match counts. Memory is bounded. Throws Error(kInterrupted) after
/// Ctrl-C.
WeightChanges compare_weights(const TensorPairs& pairs, const ReadableWeights& before,
                              const ReadableWeights& after);

/// One sentence each: the number of equal tensors, the first few changed ones, and a tensor that
/// could not be read.
std::vector<std::string> describe(const WeightChanges& changes);

/// One sentence each: tensors of another shape, and tensors that only one model has.
std::vector<std::string> describe_unpaired(const Graph& before, const Graph& after,
                                           const TensorPairs& pairs);

}  // namespace tmeter::core
