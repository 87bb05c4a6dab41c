// Which arguments of operators are sizes that the exporter may have written as plain numbers.
#pragma once
#include <optional>

#include "propagate/arguments.hpp"
#include "propagate/known.hpp"

namespace tmeter::torch_backend {

/// The size argument of a node, and what it may be for the inputs at hand.
struct SizeArgument {
  std::string_view name;        // "size"
  std::vector<Sizes> versions;  // the first is tried first; never empty
  bool must_be_sure = false;    // a wrong one could pass unseen: not for new tensors, expansions
  bool sure = false;            // only the first is made of changes that are known
};

struct SizeContext {
  const Known& base;                         // what `versions` start from
  const Environment& now;                    // what has been computed so far
  const SizeChanges& changes;                // of the inputs
  const SizeChanges& known;                  // these, and what followed without any choice
  const ShapeChanges& shapes;                // of inputs and what followed without any choice
  const std::optional<SizeChange>& samples;  // when nothing else changes
};

/// None for a node without such an argument, or one all of whose sizes are computed.
std::optional<SizeArgument> size_argument(const Node& node, const SizeContext& context);

/// The sizes as they stand in the program, -1 included, or as an earlier pass has replaced them.
Sizes written_sizes(const Node& node, std::string_view argument, const Known& base,
                    const Environment& now);

}  // namespace tmeter::torch_backend
