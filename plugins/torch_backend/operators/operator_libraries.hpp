// Operators that LibTorch lacks, from libraries that the user names; and declarations of operators
// whose library is missing.
#pragma once
#include <string>
#include <string_view>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// Opens each library of "a.so:b.so"; the user trusts their code. The operators they register with
/// LibTorch stay until the process ends. Throws TMETER_BAD_USAGE if one cannot be opened.
void open_operator_libraries(std::string_view paths);
void open_operator_library(const std::string& path);

/// Whether an opened library registered the operator "torchvision::nms".
bool is_of_operator_library(std::string_view op);

/// Declares the operator with this schema and without an implementation. Throws what LibTorch
/// throws when it has the operator already. The next library that is opened withdraws all
/// declarations, as it may bring the same operators.
void declare_operator(const std::string& op, c10::FunctionSchema schema);

}  // namespace tmeter::torch_backend
