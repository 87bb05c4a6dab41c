// One --input of the user's as a value of an argument's type.
#pragma once
#include <functional>
#include <string>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// Throws TMETER_BAD_USAGE, naming the argument and its type, when the forms do not go together.
/// `default_type` is asked for tensors of which the user says no dtype.
c10::IValue given_value(const InputSpec& spec, const c10::TypePtr& type,
                        const std::string& argument,
                        const std::function<at::ScalarType()>& default_type);

}  // namespace tmeter::torch_backend
