// Arguments of operators that are sizes and may be plain numbers in an exported program.
#pragma once
#include <optional>

#include "operators/arguments.hpp"
#include "replayed_sizes.hpp"

namespace tmeter::resize {

/// The size arguments of a node and their possible values for the given inputs.
struct SizeArgument {
  std::vector<std::string_view> names;  // "size"; several only for operators with a shape rule
  /// Values of all arguments, concatenated; the first is tried first; never empty.
  std::vector<Sizes> versions;
  bool requires_certainty = false;  // a wrong version could go unnoticed, as for reshape
  bool sure = false;                // only the first version consists of known changes
};

struct SizeContext {
  const ReplayedSizes& base;                 // the sizes before the change
  const Environment& now;                    // values computed so far
  const SizeChanges& changes;                // of the inputs
  const SizeChanges& certain;                // of inputs and of results without any choice
  const ShapeChanges& shapes;                // of inputs and of results without any choice
  const std::optional<SizeChange>& samples;  // set if only the number of samples changes
};

/// Empty for a node without such an argument and for one whose sizes are all computed.
/// `by_schema` has the sizes by the schema of an in-house operator.
std::optional<SizeArgument> size_argument(const Node& node,
                                          const std::vector<std::string_view>& by_schema,
                                          const SizeContext& context);

/// The sizes in the program, -1 included, or those of an earlier pass.
Sizes written_sizes(const Node& node, const std::vector<std::string_view>& arguments,
                    const ReplayedSizes& base, const Environment& now);

/// Splits a version by argument.
std::vector<Literal> literals_of(const Node& node, const SizeArgument& argument,
                                 const Sizes& version);

}  // namespace tmeter::resize
