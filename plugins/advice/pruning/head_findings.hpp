// Which attention heads carry little.
#pragma once
#include "state.hpp"

#pragma GCC visibility push(hidden)
namespace pruning {

/// `head_size`: features of a head; 0: as the file tells (attributes `head_dim` and `num_heads` of
/// the module, or the size of a norm of queries), else nothing is said.
void report_heads(const Collection& seen, int64_t head_size, tmeter::Call& call);

}  // namespace pruning
#pragma GCC visibility pop
