#include "torchscript/load_model.hpp"

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "operators/evaluator.hpp"
#include "operators/limits.hpp"
#include "operators/messages.hpp"
#include "operators/meta_kernels/registry.hpp"
#include "operators/missing_operators.hpp"
#include "operators/quantized.hpp"
#include "operators/torch_version.hpp"
#include "torchscript/input_inference/inputs.hpp"
#include "torchscript/input_inference/search.hpp"
#include "torchscript/load/module_tree.hpp"
#include "torchscript/load/names.hpp"
#include "torchscript/load/safety.hpp"
#include "torchscript/primitives/guards.hpp"
#include "torchscript/run/interpreter.hpp"
#include "torchscript/run/loaded_model_state.hpp"
#include "torchscript/run/real_values.hpp"

namespace tmeter::torch_backend {
namespace {

void describe(const ModelFile& file, GraphBuilder& builder) {
  const auto& archive = file.archive();
  builder.property("name", last_part(plain_type_name(*file.root().type())));
  builder.property("format", archive.traced() ? "TorchScript, traced" : "TorchScript, scripted");
  builder.property("producer",
                   "TorchScript file format " + std::to_string(archive.format_version()));
}

/// Reports the time of each step for -v.
class Stopwatch {
 public:
  explicit Stopwatch(const Call& call) : call_(call) {}
  void done(const std::string& step) {
    const auto now = Clock::now();
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now - last_).count();
    call_.debug(step + ": " + std::to_string(us) + " us");
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Call& call_;
  Clock::time_point last_ = Clock::now();
};

/// During its lifetime, LibTorch and the model's own code write nothing to stdout or stderr from
/// this thread: warnings become lines for -v, print() writes nothing.
class Warnings final : private c10::WarningHandler {
 public:
  explicit Warnings(const Call& call) : call_(call), guard_(this) {
    torch::jit::setPrintHandler([](const std::string&) {});
  }

 private:
  static constexpr size_t kMaxWarnings = 50;

  void process(const c10::Warning& warning) override {
    const auto text = short_reason(warning.msg());
    if (reported_.size() < kMaxWarnings && reported_.insert(text).second)
      call_.info("LibTorch: " + text);
  }

  const Call& call_;
  std::set<std::string> reported_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

/// Runs the model and records it.
struct Loading {
  const ModelFile& file;
  const ModuleTree& tree;
  GraphBuilder& builder;
  Call& call;
  Limits& limits;
  MemoryLimit& memory;
  LoadedModelState& state;
  int64_t value_threads;  // of a run with values, for sizes that depend on data; 0: no such run

  void run(const std::vector<InputSet>& sets, bool needs_values) const {
    ForeignOperators foreign(file.declarations(), call);
    const auto first =
        find_inputs(sets, file, tree, foreign, limits, call, needs_values || value_threads > 0);
    auto& assumed = evaluation_state().sizes_are_assumed;
    assumed = first.undecided && !RealValues(file).missing_weight().empty();
    const auto chosen =
        assumed ? find_inputs(sets, file, tree, foreign, limits, call, needs_values) : first;
    if (chosen.undecided) {
      run_with_values(chosen, undecided_text(*chosen.undecided), foreign);
    } else if (value_threads > 0 && !chosen.assumed.empty() &&
               RealValues(file).missing_weight().empty()) {
      run_with_values(chosen, "the size of the result of " + chosen.assumed + " depends on data",
                      foreign);
    } else {
      record(chosen.inputs, foreign, nullptr);
    }
  }

  /// Keeps the tensors of the inputs: a measured run takes the same path with them.
  void keep_inputs(const InputSet& inputs, RealValues& values) const {
    for (const auto& i : inputs) {
      for_each_tensor(i.value,
                      [&](const at::Tensor& t) { state.inputs.push_back(values.of(t).clone()); });
    }
  }

  void record(const InputSet& inputs, ForeignOperators& foreign, RealValues* values) const {
    Recorder recorder(builder, tree, call, state);
    for (const auto& i : inputs) {
      if (!i.value.isNone()) recorder.input(i.name, i.origin, i.value);
    }
    Run run(tree, &builder, &recorder, foreign, limits, values);
    if (!run.forward(file.root(), values_of(inputs))) report_failure(run.failure(), inputs);
    recorder.output(run.result());
  }

  /// Runs the program once with the weights of the file, on the CPU, because its control flow
  /// depends on data.
  void run_with_values(const AcceptedInputs& chosen, const std::string& why,
                       ForeignOperators& foreign) const {
    RealValues values(file);
    const auto missing = values.missing_weight();
    if (!missing.empty()) report_undecided(*chosen.undecided, missing);
    // Sums round differently on another number of threads, and decisions may follow from them.
    const auto threads = value_threads > 0 ? static_cast<unsigned>(value_threads)
                                           : std::thread::hardware_concurrency();
    at::set_num_threads(threads_that_start(threads));
    at::manual_seed(0);  // the same file gives the same report
    memory.reset_peak();
    keep_inputs(chosen.inputs, values);
    record(chosen.inputs, foreign, &values);
    builder.property("assumed", why);
    call.warn("the model was run once with its real weights and made-up inputs (random numbers, " +
              std::string("integers 0), because ") + why +
              "; other inputs may take another path. Memory at most " +
              std::to_string((memory.peak() >> 20) + 1) + " MiB");
  }
};

}  // namespace

void load_model(const Request& request, GraphBuilder& builder, Call& call) {
  at::set_num_threads(1);  // operators on shapes are too small to be worth starting threads
  note_untried_version(call);
  evaluation_state().sizes_are_assumed = false;
  auto& state = last_loaded_model();
  state = {};
  Stopwatch watch(call);
  open_operator_libraries(call.option_text("op-library"));
  const MetaKernels kernels;
  register_quantized_factories();
  guard_primitives();
  watch.done("kernels registered");
  const TrustPrimitives trust(request.trusted());
  Limits limits(call, "torch-backend");
  MemoryLimit memory(static_cast<uint64_t>(call.option_int("max-memory")) << 20);
  const Warnings warnings(call);
  const ModelFile file(request, call);
  limits.rethrow();
  watch.done("archive read");
  if (!request.trusted()) check_operators(file);
  check_tuples(file.code());
  watch_loops(file.code());
  const bool needs_values = mark_decisions(file.code());
  describe(file, builder);
  const auto tree = push_modules(file, builder);
  watch.done("modules listed");

  Loading{file, tree, builder, call, limits, memory, state, call.option_int("real-values")}.run(
      input_sets(file, request), needs_values);
  watch.done("model run");
}

}  // namespace tmeter::torch_backend
