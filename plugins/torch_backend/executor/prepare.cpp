#include "executor/prepare.hpp"

#include <torch/version.h>

#include <array>
#include <cstdio>
#include <tmeter/cpp/sha256.hpp>

#include "executor/runner.hpp"
#include "executor/weights.hpp"
#include "operators/missing_operators.hpp"
#include "operators/torch_version.hpp"

namespace tmeter::torch_backend {
namespace {

void interop_once() {
  static const bool done = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

std::string digest_of(const at::Tensor& tensor) {
  const auto t = tensor.cpu().contiguous();
  std::string out = std::string(DType(static_cast<int32_t>(t.scalar_type())).name()) + "[";
  for (int64_t i = 0; i < t.dim(); ++i) out += (i ? ", " : "") + std::to_string(t.size(i));
  return out + "] sha256 " +
         tmeter::sha256_hex({static_cast<const char*>(t.const_data_ptr()), t.nbytes()});
}

std::string text_of(const c10::Scalar& element) {
  std::array<char, 64> text{};
  if (element.isBoolean()) return element.toBool() ? "true" : "false";
  if (element.isIntegral(false)) return std::to_string(element.toLong());
  const auto z = element.toComplexDouble();
  std::snprintf(text.data(), text.size(), element.isComplex() ? "%.6g%+.6gi" : "%.6g", z.real(),
                z.imag());
  return text.data();
}

/// "-0.0381, 0.712, …": the first elements in row-major order.
std::string first_values(const at::Tensor& tensor, int64_t count) {
  const auto plain = tensor.is_quantized() ? tensor.dequantize() : tensor;
  const auto first = plain.flatten().slice(0, 0, count).cpu();
  std::string out;
  for (int64_t i = 0; i < first.numel(); ++i) out += (i ? ", " : "") + text_of(first[i].item());
  return tensor.numel() > count ? out + ", …" : out;
}

/// Runs the model once and reports its outputs.
void report_outputs(Runner& runner, const tmeter_run_request& request, ExecutorCall& call) {
  const bool digest = call.option_bool("output-digest");
  const auto values = call.option_int("output-values");
  if (!digest && values == 0) return;
  runner.run_unobserved(request.threads, call);
  const auto outputs = runner.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto place = "." + std::to_string(i);
    if (digest) call.fact("output" + place, digest_of(outputs[i]));
    if (values > 0) call.fact("output-values" + place, first_values(outputs[i], values));
  }
}

}  // namespace

std::unique_ptr<Execution> prepare(const Graph& graph, const tmeter_run_request& request,
                                   ExecutorCall& call) {
  if (graph.nodes().size() == 0)
    throw Error(TMETER_CANNOT_RUN, "the file holds only weights: there is nothing to run");
  note_untried_version(call);
  const auto device = open_device(to_view(request.device));
  interop_once();
  at::set_num_threads(1);
  for (size_t i = 0; i < request.library_count; ++i)
    open_operator_library(std::string(to_view(request.libraries[i])));
  const c10::InferenceMode inference;
  const auto& state = state_of(graph);
  Weights weights(state, call, device, request.seed);
  auto program = make_program({graph, state, device, [&](const Tensor& tensor, bool written) {
                                 return weights.of(tensor, written);
                               }});
  auto inputs = inputs_for(graph, request, device);
  call.fact("engine", "LibTorch " TORCH_VERSION);
  call.fact("device", device.is_cpu() ? std::string("cpu") : device.str());
  if (const auto name = device_name(device); !name.empty()) call.fact("device.name", name);
  call.fact("weights", weights.described());
  call.fact("inputs", inputs.described);
  call.fact("threads", std::to_string(request.threads));
  at::manual_seed(request.seed);  // for operators that draw random numbers
  const auto limit = memory_limit_of(device, request.memory_limit);
  if (!limit.warning.empty()) call.warn(limit.warning);
  auto runner =
      std::make_unique<Runner>(std::move(program), std::move(inputs.tensors), device, limit.bytes);
  report_outputs(*runner, request, call);
  return runner;
}

}  // namespace tmeter::torch_backend
