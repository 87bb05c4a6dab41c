// The loader "torchscript": from the file to the graph.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace tmeter::torch_backend {

void load_model(const Request& request, GraphBuilder& builder, Call& call);

}  // namespace tmeter::torch_backend
