// Calls that LibTorch makes while it starts, kept to be passed on.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "libtorch.hpp"
#include "start/deferred.hpp"

namespace tmeter::torch_backend::start {

using Tags = std::vector<at::Tag>;

/// LibTorch's own functions, with what was kept from them put in its place.
void define(torch::Library& library, c10::FunctionSchema&& schema, c10::OperatorName* out_name,
            const Tags& tags, torch::_RegisterOrVerify how);
void implement(torch::Library& library, const char* name, torch::CppFunction&& function,
               torch::_RegisterOrVerify how);
void enter_script_operator(torch::jit::Operator&& op);

/// `library` lives as long as the process.
std::unique_ptr<Registration> definition(torch::Library& library, c10::FunctionSchema&& schema,
                                         const Tags& tags);
std::unique_ptr<Registration> kernel(torch::Library& library, const char* name,
                                     torch::CppFunction&& function);
std::unique_ptr<Registration> script_operator(torch::jit::Operator&& op);

/// The name of a TorchScript operator, without parsing its schema.
std::string name_of(const torch::jit::Operator& op);

}  // namespace tmeter::torch_backend::start
