#include "load_model.hpp"

#include <chrono>
#include <optional>

#include "load/module_tree.hpp"
#include "load/names.hpp"
#include "load/safety.hpp"
#include "meta_kernels/registry.hpp"
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

std::vector<c10::IValue> values_of(const InputSet& inputs) {
  std::vector<c10::IValue> out;
  for (const auto& i : inputs) out.push_back(i.value);
  return out;
}

/// The first set of inputs that the model accepts; the only one is not tried. One that leads to a
/// decision about data fits as well.
const InputSet& choose(const std::vector<InputSet>& sets, const ModelFile& file,
                       const ModuleTree& tree, Limits& limits, const Call& call) {
  if (sets.size() == 1) return sets[0];
  std::optional<Failure> first;
  for (const auto& set : sets) {
    Run trial(tree, nullptr, nullptr, limits);
    if (trial.forward(file.root(), values_of(set)) || trial.failure().data_dependent) return set;
    if (trial.failure().own) std::rethrow_exception(trial.failure().own);
    call.debug("inputs do not fit: " + inferred_text(set) + ": " + trial.failure().reason);
    if (!first) first = trial.failure();
  }
  report_no_fit(*first, sets, file.root().get_method("forward").function().getSchema());
}

}  // namespace

void load_model(const Request& request, GraphBuilder& builder, Call& call) {
  at::set_num_threads(1);  // there is no bulk work: starting threads would cost more than they give
  Stopwatch watch(call);
  register_meta_kernels();
  watch.done("meta kernels registered");
  const ModelFile file(request.source(), request.trusted());
  watch.done("archive read");
  if (!request.trusted()) check_operators(file.archive().path(), file.code());
  watch_loops(file.code());
  mark_decisions(file.code());
  describe(file, builder);
  const auto tree = push_modules(file, builder);
  watch.done("modules listed");

  Limits limits(call, call.option_float("timeout"), call.option_int("max-operators"));
  const auto sets = input_sets(file, request);
  const auto& inputs = choose(sets, file, tree, limits, call);
  Recorder recorder(builder, tree, call);
  for (const auto& i : inputs) {
    if (!i.value.isNone()) recorder.input(i.name, i.origin, i.value);
  }
  Run run(tree, &builder, &recorder, limits);
  if (!run.forward(file.root(), values_of(inputs))) report_failure(run.failure(), inputs);
  recorder.output(run.result());
  watch.done("model run");
}

}  // namespace tmeter::torch_backend
