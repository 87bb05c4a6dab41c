// The executor: prepares a graph to be run with LibTorch's operators.
#pragma once
#include <tmeter/cpp/executor.hpp>

namespace tmeter::torch_backend {

std::unique_ptr<Execution> prepare(const Graph& graph, const tmeter_run_request& request,
                                   ExecutorCall& call);

}  // namespace tmeter::torch_backend
