// Which of LibTorch's operators a model file may use.
//
// The answer must not depend on the version of LibTorch, because versions move operators between
// the dispatcher and TorchScript's interpreter, and add some. It depends on lists of names and
// overloads, and for operators in no list on their schema:
//
//   dispatched  runs on shapes (operators/evaluator.hpp). Allowed if its schema has only tensors,
//               numbers and options. A text argument counts as an option by its name.
//   primitive   runs in the interpreter, unchecked, on numbers, strings and lists of the file.
//               Listed ones were reviewed; others may take only tensors and flags.
#pragma once
#include <ATen/core/function_schema.h>

#include <string_view>

namespace tmeter::torch_backend {

enum class OperatorKind {
  kDispatched,  // LibTorch's dispatcher has it
  kPrimitive,   // only TorchScript has it
};

/// Why a file may not use the operator, in words after "which": "reads or writes files".
/// Empty if it may.
std::string_view refusal(const c10::FunctionSchema& schema, OperatorKind kind);

/// The same for a construct of the language, which has no schema: prim::If, prim::PythonOp.
std::string_view refusal_of_construct(std::string_view name);

}  // namespace tmeter::torch_backend
