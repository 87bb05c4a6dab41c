// Which arguments of operators are sizes that the exporter may have written as plain numbers.
#pragma once
#include <optional>

#include "operators/arguments.hpp"
#include "known.hpp"

namespace tmeter::resize {

/// The size arguments of a node, and what they may be for the inputs at hand.
struct SizeArgument {
  std::vector<std::string_view> names;  // "size"; several only where a schema names them
  std::vector<Sizes> versions;  // of all, one behind the other; the first is tried first; never empty
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

/// None for a node without such an argument, or one all of whose sizes are computed. `by_schema`: the
/// arguments that an in-house operator's schema says are sizes.
std::optional<SizeArgument> size_argument(const Node& node,
                                          const std::vector<std::string_view>& by_schema,
                                          const SizeContext& context);

/// The sizes as they stand in the program, -1 included, or as an earlier pass has replaced them.
Sizes written_sizes(const Node& node, const std::vector<std::string_view>& arguments,
                    const Known& base, const Environment& now);

/// A version taken apart, argument by argument.
std::vector<Literal> literals_of(const Node& node, const SizeArgument& argument,
                                 const Sizes& version);

}  // namespace tmeter::resize
