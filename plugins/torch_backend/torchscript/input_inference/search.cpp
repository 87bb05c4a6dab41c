#include "torchscript/input_inference/search.hpp"

#include "torchscript/input_inference/report_failure.hpp"

namespace tmeter::torch_backend {

std::vector<c10::IValue> values_of(const InputSet& inputs) {
  std::vector<c10::IValue> out;
  for (const auto& i : inputs) out.push_back(i.value);
  return out;
}

Chosen choose(const std::vector<InputSet>& sets, const ModelFile& file, const ModuleTree& tree,
              ForeignOperators& foreign, Limits& limits, const Call& call, bool may_ask) {
  const size_t plans = foreign.plans();
  const bool no_choice = sets.size() == 1 && plans == 1;
  if (no_choice && !may_ask) return {sets[0], {}, {}};
  std::optional<Failure> first;
  for (size_t plan = 0; plan < plans; ++plan) {
    foreign.use_plan(plan);
    for (const auto& set : sets) {
      Run trial(tree, nullptr, nullptr, foreign, limits);
      if (trial.forward(file.root(), values_of(set))) return {set, {}, trial.assumed()};
      if (trial.failure().data_dependent) return {set, trial.failure(), {}};
      if (trial.failure().own) std::rethrow_exception(trial.failure().own);
      call.debug("does not fit: " + inferred_text(set) + ": " + trial.failure().reason);
      if (!first) first = trial.failure();
    }
  }
  if (no_choice) return {sets[0], {}, {}};  // the run itself will say what is wrong
  if (plans > 1) report_unknown_operators(*first, foreign.guessed());
  report_no_fit(*first, sets, file.root().get_method("forward").function().getSchema());
}

}  // namespace tmeter::torch_backend
