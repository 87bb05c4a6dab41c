// Findings about pruning.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "state.hpp"

namespace pruning {

/// Whether a weight with this name is a query, key, value or output projection.
bool is_projection(std::string_view name);
/// "model.layers.3.self_attn." of "model.layers.3.self_attn.q_proj.weight"; empty for other names.
/// `part`: the projection, 'q', 'k', 'v' or 'o'.
std::string attention_of(std::string_view name, char& part);

/// L2 norms of a layer's heads, each over the columns of the output projection that the head feeds
/// and over its query rows. Key and value rows do not count, because heads may share them. Empty if
/// the sizes do not fit.
std::vector<double> head_norms(const std::vector<double>& query_filters,
                               const std::vector<double>& output_inputs, int64_t head_size);

struct Settings {
  double max_loss = 0;    // ‖removed‖ / ‖all‖
  int64_t head_size = 0;  // 0: determined from the file
};

void report_findings(const Collection& collection, const Settings& settings,
                     const tmeter::Graph& graph, tmeter::Call& call);

/// Reports attention heads with little weight. `head_size`: features of a head; 0: determined from
/// the file (attributes `head_dim` and `num_heads` of the module, or the size of a norm of
/// queries). If the file does not determine it, there is no finding.
void report_heads(const Collection& collection, int64_t head_size, tmeter::Call& call);

}  // namespace pruning
