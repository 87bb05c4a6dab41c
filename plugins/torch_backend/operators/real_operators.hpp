// Which operators may run on tensors that have values.
//
// LibTorch has 2,500 kernels, and not all of them check what they are given: a file that chooses
// both the operator and the numbers in its index tensors can read and write beyond its memory. So
// values meet only operators that were looked at, one by one: they check their indices and sizes
// themselves, or take none, or a check here does it for them. What is not in the table is run on
// shapes alone.
#pragma once
#include <cstdint>
#include <string_view>

#include "operators/libtorch.hpp"
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {

/// Scalar operations that running the operator takes, at most; `results` may be meta tensors.
using Work = double (*)(const OperatorInfo& info, const torch::jit::Stack& args,
                        const torch::jit::Stack& results);
/// Throws when these arguments are not fit to run.
using FitCheck = void (*)(const OperatorInfo& info, const torch::jit::Stack& args);

struct RealOperator {
  std::string_view name;  // "aten::add", which stands for add_ as well
  Work work = nullptr;    // null: in proportion to what goes in and comes out
  FitCheck check = nullptr;

  double work_of(const OperatorInfo& info, const torch::jit::Stack& args,
                 const torch::jit::Stack& results) const;
};

/// Null when the operator may not run on values.
const RealOperator* real_operator(const OperatorInfo& info);

/// Throws when the arguments make no sense to any operator: a number that is no dtype.
void check_enums(const OperatorInfo& info, const torch::jit::Stack& args);

/// Whether these are tensors as the table means them: dense, neither quantized nor nested.
bool plain_tensors(const torch::jit::Stack& args);

/// Throws when real `repeats` of repeat_interleave would add up to more than can be.
void check_repeats(const OperatorInfo& info, const torch::jit::Stack& args);

/// Into how many tensors an operator such as split takes its argument apart; 0 for any other.
uint64_t parts_of(const OperatorInfo& info, const torch::jit::Stack& args);

}  // namespace tmeter::torch_backend
