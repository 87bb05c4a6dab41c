// The findings about pruning.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "state.hpp"

namespace pruning {

// Attention heads with little weight, if the file states the size of a head.

/// Whether a weight is a query, key, value or output projection by its name.
bool is_projection(std::string_view name);
/// "model.layers.3.self_attn." of "model.layers.3.self_attn.q_proj.weight"; empty for other names.
/// `part`: the projection, 'q', 'k', 'v' or 'o'.
std::string attention_of(std::string_view name, char& part);

/// L2 norms of a layer's heads: of the columns of the output projection that a head feeds, and of
/// the query rows that ask for it. Key and value rows may be shared by several heads and do not
/// count. Empty when the sizes do not fit.
std::vector<double> head_norms(const std::vector<double>& query_filters,
                               const std::vector<double>& output_inputs, int64_t head_size);

struct Settings {
  double max_loss = 0;    // ‖removed‖ / ‖all‖
  int64_t head_size = 0;  // 0: determined from the file
};

void report_findings(const Collection& collection, const Settings& settings,
                     const tmeter::Graph& graph, tmeter::Call& call);

// Reports attention heads with little weight.

/// `head_size`: features of a head; 0: determined from the file (attributes `head_dim` and
/// `num_heads` of the module, or the size of a norm of queries), else there is no finding.
void report_heads(const Collection& collection, int64_t head_size, tmeter::Call& call);

}  // namespace pruning
