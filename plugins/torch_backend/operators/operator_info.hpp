// Properties of an operator, derived once from its schema, and checks of its arguments that
// LibTorch does not make itself.
#pragma once
#include <string>
#include <string_view>
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

/// The argument of this name; null if it is missing.
const c10::IValue* argument_named(const OperatorInfo& info, const torch::jit::Stack& args,
                                  std::string_view name);

/// Throws if the hidden state of a recurrent operator does not fit the input's batch:
/// at::native::lstm of torch 2.15 crashes with meta tensors then, while it unwinds its own error.
void check_hidden_state(const OperatorInfo& info, const torch::jit::Stack& args);

/// Throws if an argument is not a value of its type, such as a number that is not a dtype.
void check_enums(const OperatorInfo& info, const torch::jit::Stack& args);

/// Whether all tensors are as the table of real operators requires: dense, neither quantized nor
/// nested.
bool plain_tensors(const torch::jit::Stack& args);

/// Throws if known `repeats` of repeat_interleave are negative or add up to more than 2^40.
void check_repeats(const OperatorInfo& info, const torch::jit::Stack& args);

/// How many tensors an operator such as split makes of its argument; 0 for any other.
uint64_t parts_of(const OperatorInfo& info, const torch::jit::Stack& args);

}  // namespace tmeter::torch_backend
