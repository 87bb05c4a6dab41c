// The findings about pruning.
#pragma once
#include "state.hpp"

namespace pruning {

struct Settings {
  double max_loss = 0;    // ‖removed‖ / ‖all‖
  int64_t head_size = 0;  // 0: as the file tells
};

void report_findings(const Collection& seen, const Settings& settings, const tmeter::Graph& graph,
                     tmeter::Call& call);

// Reports attention heads with little weight.

/// `head_size`: features of a head; 0: as the file tells (attributes `head_dim` and `num_heads` of
/// the module, or the size of a norm of queries), else nothing is said.
void report_heads(const Collection& seen, int64_t head_size, tmeter::Call& call);

}  // namespace pruning
