// Calls of operators in the text of TorchScript files: ops.acme.gated_mlp(x, w_in, w_out), and
// torch.name(…) for those of PyTorch itself, which a newer one may have and this one not.
//
// LibTorch refuses a program that calls an operator it does not know. What the text says of such a
// call (how many arguments, how many results) is enough to declare one in its place.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tmeter::torch_backend {

struct ForeignCall {
  size_t arguments = 0;            // by position, the most that any call gives
  std::set<std::string> keywords;  // given by name
  size_t results = 1;
  size_t list_length = 0;  // above 0: the one result is a list of so many tensors
};

using ForeignCalls = std::map<std::string, ForeignCall>;  // by operator: "acme::gated_mlp"

/// Adds every call in the text of an operator that `known` does not know.
void find_foreign_calls(std::string_view text, const std::function<bool(const std::string&)>& known,
                        ForeignCalls& found);

}  // namespace tmeter::torch_backend
