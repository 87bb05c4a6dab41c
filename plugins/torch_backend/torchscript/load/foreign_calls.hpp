// Calls of unknown operators in the text of TorchScript files: ops.acme.gated_mlp(x, w_in, w_out),
// and torch.name(…) for operators of a newer PyTorch.
//
// LibTorch refuses a program that calls an operator it does not have. The text of a call shows the
// number of arguments and results, which is enough to declare the operator.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tmeter::torch_backend {

struct ForeignCall {
  size_t arguments = 0;            // by position, the maximum over all calls
  std::set<std::string> keywords;  // arguments by name
  size_t results = 1;
  size_t list_length = 0;  // above 0: the result is one list with this many tensors
};

using ForeignCalls = std::map<std::string, ForeignCall>;  // by operator: "acme::gated_mlp"

/// Adds every call in the text of an operator for which `is_known` is false.
void find_foreign_calls(std::string_view text,
                        const std::function<bool(const std::string&)>& is_known,
                        ForeignCalls& found);

}  // namespace tmeter::torch_backend
