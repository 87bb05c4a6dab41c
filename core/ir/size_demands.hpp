// The demands of operators on the sizes of their arguments: as many elements after a reshape as
// before it, equal inner sizes of a matrix product, sizes that broadcast. A program whose sizes
// follow symbols meets the demands for the sizes it was recorded with. For others, it may not.
#pragma once
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Whether there is a rule for the operator, and it concerns sizes that follow symbols.
bool has_size_demands(const Node& node);

/// Whether the present sizes meet the demands. Only for operators with a rule.
bool meets_size_demands(const Node& node);

}  // namespace tmeter::core
