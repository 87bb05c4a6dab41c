// The time of a run operator by operator, compared with LibTorch's own forward: the same
// TorchScript file, process, threads and input, in alternating runs.
//
//   executor_bench THREADS ROUNDS MODEL.pt INPUT.pt [OPERATORS.so]
//
// INPUT.pt "image": a list of one image of 3x320x320, random, seed 0 (Faster R-CNN).
// Prints for each the median and the fastest round, their ratios, and the number of operators.
#include <ATen/Parallel.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/execution/executor.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/model_loading.hpp"
#include "core/plugin_host/tensor_bytes.hpp"
#include "core/process/sandbox.hpp"

namespace {
using namespace tmeter::core;
using Clock = std::chrono::steady_clock;

/// Access to runs without observers: only the times of whole runs are kept.
class Unobserved final : public RunsAccess {
 public:
  explicit Unobserved(const TensorBytes& tensors) : tensors_(tensors) {}
  void want(int32_t, int32_t, int32_t) override {}
  void want_samples(uint64_t) override {}
  std::string_view fact(std::string_view) const override { return {}; }
  std::string_view stopped() const override { return {}; }
  void event(const tmeter_event& e) override {
    validator->check(e);
    if (e.kind == TMETER_EVENT_RUN_END)
      seconds = static_cast<double>(e.nanoseconds - e.since) * 1e-9;
    operators += e.kind == TMETER_EVENT_OP_END;
  }
  void report_fact(std::string_view, std::string_view) override {}
  std::string_view weights(const Tensor* tensor) const override { return tensors_.raw(*tensor); }

  double seconds = 0;
  size_t operators = 0;
  std::optional<RunEventValidator> validator;  // of the present run

 private:
  const TensorBytes& tensors_;
};

struct Times {
  std::vector<double> all;
  double median() {
    std::ranges::sort(all);
    return all[all.size() / 2];
  }
  double fastest() { return *std::ranges::min_element(all); }
};

std::vector<char> content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

double seconds_of(auto&& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

int compare(unsigned threads, int rounds, const std::string& model, const char* input,
            const char* operators) {
  // LibTorch loads first, while the plugin has not registered its own loader. With a library of
  // operators the plugin loads first, because it opens the library.
  torch::jit::Module module;
  if (!operators) module = torch::jit::load(model);
  const bool image = std::string_view(input) == "image";
  at::manual_seed(0);  // as in the loader, which makes up the inputs of data-dependent programs
  const auto value = image ? c10::IValue(c10::List<at::Tensor>({at::rand({3, 320, 320})}))
                           : torch::jit::pickle_load(content_of(input));
  const std::vector<c10::IValue> arguments{value};

  add_plugin_host_interfaces();
  Settings settings;
  settings.options["torch-backend"]["real-values"] = {.value = std::to_string(threads)};
  if (operators) settings.options["torch-backend"]["op-library"] = {.value = operators};
  Registry registry(settings);
  setenv("TMETER_SANDBOX", "off", 1);  // LibTorch is measured, not the sandbox
  enter_sandbox({});
  CallLog log;
  const tmeter_source source(model);
  tmeter_request request{&source, false, {}};
  if (image) {
    InputRequest list, item;
    list.form = TMETER_INPUT_LIST;
    list.items = 1;
    item.dims = {3, 320, 320};
    list.text = item.text = "[3x320x320]";
    request.inputs = {list, item};
  }
  const auto loaded = load_model(registry, request, {&log, nullptr, nullptr});
  if (operators) module = torch::jit::load(model);
  module.eval();
  const TensorBytes tensors(source.file);
  Unobserved runs(tensors);
  RunContext context{&log, nullptr, nullptr};
  context.graph = loaded.graph.get();
  context.runs = &runs;
  RunOptions options;
  options.threads = threads;
  if (!image) options.inputs.emplace_back("", input);
  Executor executor(registry, *loaded.graph, options, context);

  at::set_num_threads(static_cast<int>(threads));
  const c10::InferenceMode inference;
  const auto forward = [&] { return seconds_of([&] { module.forward(arguments); }); };
  const auto ours = [&](int32_t kind) {
    runs.validator.emplace(*loaded.graph, kind);
    executor.run(kind, threads, *runs.validator);
    return runs.seconds;
  };
  for (int i = 0; i < 3; ++i) forward(), ours(TMETER_RUN_WARM_UP);
  ours(TMETER_RUN_OPERATORS);
  const auto count = runs.operators;
  Times libtorch, whole, observed;
  for (int i = 0; i < rounds; ++i) {
    libtorch.all.push_back(forward());
    whole.all.push_back(ours(TMETER_RUN_WHOLE));
    observed.all.push_back(ours(TMETER_RUN_OPERATORS));
  }
  std::printf("| %s | %zu | %.3f | %.3f | %.3f | %.3f | %.3f |\n", model.c_str(), count,
              libtorch.median() * 1e3, whole.median() * 1e3, whole.median() / libtorch.median(),
              whole.fastest() / libtorch.fastest(), observed.median() / whole.median());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "executor_bench THREADS ROUNDS MODEL.pt INPUT.pt [OPERATORS.so]\n");
    return 2;
  }
  try {
    return compare(static_cast<unsigned>(std::stoul(argv[1])), std::stoi(argv[2]), argv[3], argv[4],
                   argc > 5 ? argv[5] : nullptr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "executor_bench: %s\n", e.what());
    return 1;
  }
}
