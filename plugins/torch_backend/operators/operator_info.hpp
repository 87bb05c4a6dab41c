// What the evaluator and the recorder need to know of an operator, worked out once from its schema.
#pragma once
#include <string>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

enum class ArgKind { kPlain, kDevice, kDtype, kLayout, kMemoryFormat };

struct ArgInfo {
  std::string name;
  ArgKind kind = ArgKind::kPlain;
  bool written = false;  // the operator changes this argument in place
};

struct OperatorInfo {
  explicit OperatorInfo(const c10::OperatorHandle& op);

  std::string name;      // "aten::add_"
  std::string overload;  // "Tensor"
  std::vector<ArgInfo> args;
  size_t results = 0;
  bool returns_alias = false;   // a view of, or the same as, an argument
  bool data_dependent = false;  // the result's shape or existence depends on values
  bool uninitialised = false;   // aten::empty…: contents are whatever lay there
  bool no_meta_kernel = false;  // learned when it was first tried

  std::string full_name() const { return overload.empty() ? name : name + "." + overload; }
};

}  // namespace tmeter::torch_backend
