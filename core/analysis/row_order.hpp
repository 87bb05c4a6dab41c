// Rows of queries and keys in a GGUF file of a llama: converters put the two halves of each head's
// rotation beside each other (convert_hf_to_gguf.py, LlamaModel.permute).
#pragma once
#include <optional>
#include <string>

#include "core/ir/graph.hpp"

namespace tmeter::core {

struct RowOrder {
  int64_t head = 0;  // rows of one; 0: as in the other file

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

/// The order of a GGUF tensor whose rows may be permuted; nothing for other tensors.
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

}  // namespace tmeter::core
