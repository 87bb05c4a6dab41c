// Which operators may run on tensors that have values.
//
// LibTorch has 2,500 kernels, and not all of them check their arguments: a file that chooses both
// the operator and the elements of its index tensors can read and write beyond its memory. So only
// operators that were reviewed, one by one, run on values. They check their indices and sizes
// themselves, or take none, or have a check here. All others run only on shapes.
#pragma once
#include <cstdint>
#include <string_view>

#include "operators/libtorch.hpp"
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {

/// An upper bound of the scalar operations that the operator takes; `results` may be meta tensors.
using Work = double (*)(const OperatorInfo& info, const torch::jit::Stack& args,
                        const torch::jit::Stack& results);
/// Throws if the operator must not run on these arguments.
using FitCheck = void (*)(const OperatorInfo& info, const torch::jit::Stack& args);

struct RealOperator {
  std::string_view name;  // "aten::add" also means add_
  Work work = nullptr;    // null: proportional to the elements of arguments and results
  FitCheck check = nullptr;

  double work_of(const OperatorInfo& info, const torch::jit::Stack& args,
                 const torch::jit::Stack& results) const;
};

/// Null if the operator may not run on values.
const RealOperator* real_operator(const OperatorInfo& info);

}  // namespace tmeter::torch_backend
