// The class of work of a node's operator: as declared by a plugin (Registrar::Op::work), else
// by its name.
#pragma once
#include "call.hpp"
#include "op_class.hpp"

TMETER_SDK_BEGIN

inline OpClass op_class(const Node& node, const Call& call) {
  const auto given = call.work_of(node);
  return given.empty() ? op_class(node.op()) : op_class_named(given);
}

TMETER_SDK_END
