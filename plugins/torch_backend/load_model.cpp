#include "load_model.hpp"

#include <chrono>

#include "load/module_tree.hpp"
#include "load/names.hpp"
#include "load/safety.hpp"
#include "meta_kernels/registry.hpp"
#include "run/choice.hpp"
#include "run/decisions.hpp"
#include "run/inputs.hpp"
#include "run/interpreter.hpp"
#include "run/report_failure.hpp"

namespace tmeter::torch_backend {
namespace {

void describe(const ModelFile& file, GraphBuilder& builder) {
  const auto& archive = file.archive();
  builder.property("name", last_part(plain_type_name(*file.root().type())));
  builder.property("format", archive.traced() ? "TorchScript, traced" : "TorchScript, scripted");
  builder.property("producer",
                   "TorchScript file format " + std::to_string(archive.format_version()));
}

/// How long each step took, for -v.
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

}  // namespace

void load_model(const Request& request, GraphBuilder& builder, Call& call) {
  at::set_num_threads(1);  // there is no bulk work: starting threads would cost more than they give
  Stopwatch watch(call);
  register_meta_kernels();
  watch.done("meta kernels registered");
  const ModelFile file(request);
  watch.done("archive read");
  if (!request.trusted()) check_operators(file);
  watch_loops(file.code());
  mark_decisions(file.code());
  describe(file, builder);
  const auto tree = push_modules(file, builder);
  watch.done("modules listed");

  Limits limits(call, call.option_float("timeout"), call.option_int("max-operators"));
  const auto sets = input_sets(file, request);
  ForeignOperators foreign(file.declarations(), request, call);
  const auto& inputs = choose(sets, file, tree, foreign, limits, call);
  Recorder recorder(builder, tree, call);
  for (const auto& i : inputs) {
    if (!i.value.isNone()) recorder.input(i.name, i.origin, i.value);
  }
  Run run(tree, &builder, &recorder, foreign, limits);
  if (!run.forward(file.root(), values_of(inputs))) report_failure(run.failure(), inputs);
  recorder.output(run.result());
  watch.done("model run");
}

}  // namespace tmeter::torch_backend
