// Which parameters, buffers and constants the model changes: those need memory of their own.
#pragma once
#include <unordered_set>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// The tensors that an operator writes into, itself or through a view of them, by their canonical
/// ones. `operators`: by node, none for what is no operator.
std::unordered_set<const tmeter_tensor*> written_tensors(
    const Graph& graph, const std::vector<std::optional<c10::OperatorHandle>>& operators);

}  // namespace tmeter::torch_backend
