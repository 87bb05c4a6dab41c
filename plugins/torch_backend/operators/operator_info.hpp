// Properties of an operator that evaluator and recorder need, derived once from its schema.
#pragma once
#include <string>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

enum class ArgKind { kPlain, kDevice, kDtype, kLayout, kMemoryFormat };

struct ArgInfo {
  std::string name;
  ArgKind kind = ArgKind::kPlain;
  bool written = false;  // the operator changes it in place
};

struct OperatorInfo {
  explicit OperatorInfo(const c10::OperatorHandle& op);

  std::string name;      // "aten::add_"
  std::string overload;  // "Tensor"
  std::vector<ArgInfo> args;
  size_t results = 0;
  bool returns_alias = false;   // a view of, or the same as, an argument
  bool data_dependent = false;  // the result's shape or existence depends on values
  bool uninitialised = false;   // aten::empty…: the contents are arbitrary
  bool no_meta_kernel = false;  // known after the first attempt

  std::string full_name() const { return overload.empty() ? name : name + "." + overload; }
};

}  // namespace tmeter::torch_backend
