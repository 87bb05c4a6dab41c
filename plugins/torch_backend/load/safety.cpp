#include "load/safety.hpp"

#include <algorithm>
#include <array>

#include "archive/nesting.hpp"
#include "load/model_file.hpp"
#include "load/names.hpp"

namespace tmeter::torch_backend {
namespace {

/// Namespaces whose operators compute and nothing else, but for those in kDenied.
constexpr std::array<std::string_view, 12> kAllowed{
    "aten",   "prim",   "torchvision", "quantized",        "quantization", "_quantized",
    "mkldnn", "onednn", "sparse",      "mkldnn_prepacked", "profiler",     "tmeter"};

/// Files, processes, other machines, Python, and raw memory.
constexpr std::array<std::string_view, 12> kDenied{"aten::save",
                                                   "aten::from_file",
                                                   "aten::set_data",
                                                   "prim::PythonOp",
                                                   "prim::IgnoredPythonOp",
                                                   "prim::rpc_async",
                                                   "prim::rpc_sync",
                                                   "prim::rpc_remote",
                                                   "aten::_nested_view_from_buffer",
                                                   "aten::_nested_view_from_jagged",
                                                   "aten::_cudnn_init_dropout_state",
                                                   "prim::CudaFusionGroup"};

bool allowed(std::string_view op, const Declarations& declared) {
  if (declared.contains(op)) return true;
  const auto space = op.substr(0, op.find(':'));
  return std::find(kAllowed.begin(), kAllowed.end(), space) != kAllowed.end() &&
         std::find(kDenied.begin(), kDenied.end(), op) == kDenied.end();
}

/// The first operator below `block` that is not allowed, or nothing.
std::string find_denied(torch::jit::Block* block, const Declarations& declared) {
  for (auto* node : block->nodes()) {
    const std::string op = node->kind().toQualString();
    if (!allowed(op, declared)) return op;
    for (auto* inner : node->blocks()) {
      if (auto found = find_denied(inner, declared); !found.empty()) return found;
    }
    if (node->hasAttribute(torch::jit::attr::Subgraph)) {
      auto found = find_denied(node->g(torch::jit::attr::Subgraph)->block(), declared);
      if (!found.empty()) return found;
    }
  }
  return {};
}

constexpr const char* kTrust = " Use --trust only if you would run this file as a program.";

}  // namespace

void refuse_code_at_load(const std::string& file, const c10::ClassType& cls) {
  const auto name = last_part(plain_type_name(cls));
  throw Error(TMETER_REFUSED, file + " runs code while it is loaded (class " + name +
                                  " defines __setstate__)." + kTrust);
}

void check_source(std::string_view text, const std::string& path) {
  if (nested_sanely(text)) return;
  throw Error(TMETER_BAD_MODEL,
              "'" + path + "' is nested too deeply to be a program that torch wrote");
}

void check_operators(const ModelFile& file) {
  for (auto* function : file.code().get_functions()) {
    const auto* graph_function = torch::jit::tryToGraphFunction(*function);
    if (!graph_function) continue;
    const auto op = find_denied(graph_function->graph()->block(), file.declarations());
    if (op.empty()) continue;
    throw Error(TMETER_REFUSED, file.archive().path() + " uses the operator " + op + " in " +
                                    plain_name(function->qualname().qualifiedName()) +
                                    ", which may touch files or other processes." + kTrust);
  }
}

}  // namespace tmeter::torch_backend
