// Which results of an operator have memory of their own, which have an argument's, and which
// arguments it writes into: by the schema of a shape rule, else by the operator's name and class.
#pragma once
#include <tmeter/abi/metric.h>

#include <optional>
#include <string_view>
#include <tmeter/cpp/schema.hpp>

namespace tmeter::core {

struct Node;

struct ResultMemory {
  int32_t kind = TMETER_MEMORY_UNKNOWN;
  size_t argument = 0;  // index in the node
};

/// `schema`: null when no plugin has one; `given_class`: of work, empty if no plugin declares it.
ResultMemory memory_of_result(const Node& node, size_t result, const Schema* schema,
                              std::string_view given_class);
/// Empty: unknown.
std::optional<bool> writes_argument(const Node& node, size_t argument, const Schema* schema,
                                    std::string_view given_class);

}  // namespace tmeter::core
