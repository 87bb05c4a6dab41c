// Which of LibTorch's operators a model file may use.
//
// The answer must not depend on the version of LibTorch, which moves operators between its
// dispatcher and TorchScript's interpreter, and adds some. So it rests on lists of our own, by name
// and overload, and on rules about the schema of an operator that no list has:
//
//   dispatched  runs on shapes (run/evaluator.hpp), so it may be used when it is a function of
//               tensors, numbers and options: its schema has nothing else. A text among its
//               arguments counts as an option if its name is one of those known to be.
//   primitive   runs in the interpreter, unchecked, on numbers, texts and lists of the file. Those
//               in the list were looked at; others may take only tensors and flags.
#pragma once
#include <ATen/core/function_schema.h>

#include <string_view>

namespace tmeter::torch_backend {

enum class OperatorKind {
  kDispatched,  // LibTorch's dispatcher has it
  kPrimitive,   // only TorchScript has it
};

/// Why a file may not use the operator, to be read after "which": "reads or writes files". Empty if
/// it may.
std::string_view refusal(const c10::FunctionSchema& schema, OperatorKind kind);

/// The same for a part of the language that has no schema: prim::If, prim::PythonOp.
std::string_view refusal_of_construct(std::string_view name);

}  // namespace tmeter::torch_backend
