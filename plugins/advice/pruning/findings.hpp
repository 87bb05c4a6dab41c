// What pruning could take, in words.
#pragma once
#include "state.hpp"

#pragma GCC visibility push(hidden)
namespace pruning {

struct Settings {
  double max_loss = 0;    // ‖removed‖ / ‖all‖
  int64_t head_size = 0;  // 0: as the file tells
};

void report_findings(const Collection& seen, const Settings& settings, const tmeter::Graph& graph,
         tmeter::Call& call);

}  // namespace pruning
#pragma GCC visibility pop
