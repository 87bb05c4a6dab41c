// Numbers operators so that equal numbers mean: same operator, equal arguments and results.
//
// A large graph repeats a few hundred operators. A handler that depends on nothing else
// (TMETER_HANDLER_BY_SIGNATURE) is called for two of each kind only.
#pragma once
#include <cstdint>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Number of an operator that is not compared: its signature is too long, or the table is full.
inline constexpr uint32_t kNoSignature = 0;

/// By node index; numbers start at 1 in the order of first occurrence. Valid until sizes change.
std::vector<uint32_t> signatures_of(const Graph& graph);

}  // namespace tmeter::core
