// Calls of operators in the text of TorchScript files: ops.acme.gated_mlp(x, w_in, w_out).
//
// LibTorch refuses a program that calls an operator it does not know. What the text says of such a
// call (how many arguments, how many results) is enough to declare one in its place.
#pragma once
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

/// "acme::gated_mlp" → how it is called, for every ops.NAMESPACE.NAME(…) in the text.
void find_foreign_calls(std::string_view text, std::map<std::string, ForeignCall>& found);

}  // namespace tmeter::torch_backend
