#include "torchscript/input_inference/search.hpp"

#include <set>

#include "torchscript/input_inference/candidates.hpp"

namespace tmeter::torch_backend {
namespace {

/// The values inferred for one argument: "1x3x224x224, 1x3x256x256".
std::string values_tried(const std::vector<InputSet>& tried, size_t argument) {
  std::string out;
  std::set<std::string> seen;
  for (const auto& set : tried) {
    const auto& input = set[argument];
    if (input.origin != "inferred") continue;
    const auto text = as_option(input.value);
    if (seen.insert(text).second) out += (out.empty() ? "" : ", ") + text;
  }
  return out;
}

}  // namespace

void report_undecided(const Failure& f, const std::string& missing_weight) {
  throw Error(TMETER_CANNOT_RUN,
              undecided_text(f) +
                  ", so the control flow is known only after running the model, and the file "
                  "has no weights to run it with ('" +
                  missing_weight + "' is empty)");
}

void report_failure(const Failure& f, const InputSet& inputs) {
  if (f.own) std::rethrow_exception(f.own);
  if (f.data_dependent) {
    throw Error(TMETER_CANNOT_RUN, undecided_text(f) +
                                       ", so the control flow is known only after running "
                                       "the model on real data");
  }
  const auto given = given_text(inputs);
  const auto [what, of_weights] = describe_failure(f);
  if (!given.empty())
    throw Error(TMETER_BAD_MODEL, what + (of_weights ? " from " : ", with ") + given);
  const auto inferred = inferred_text(inputs);
  throw Error(TMETER_CANNOT_RUN,
              what + (inferred.empty() ? "" : ", with the inferred " + inferred));
}

void report_unknown_operators(const Failure& first, const std::string& operators) {
  throw Error(
      TMETER_CANNOT_RUN,
      "the model calls " + operators +
          ", whose library is not loaded, and no guess at the shape of the result fits. With "
          "the first guess, " +
          describe_failure(first).text +
          ". Install a plugin with a shape rule for it (docs/abi.md)");
}

void report_no_fit(const Failure& first, const std::vector<InputSet>& tried,
                   const c10::FunctionSchema& forward) {
  std::string names;
  for (size_t i = 0; i < tried[0].size(); ++i) {
    const auto values = values_tried(tried, i);
    if (!values.empty()) names += (names.empty() ? "" : "; ") + tried[0][i].name + " as " + values;
  }
  throw Error(TMETER_BAD_USAGE,
              "the file does not describe the model's inputs: " + signature(forward) +
                  ". None of these fits: " + names + ". With the first, " +
                  describe_failure(first).text + ". Give the inputs with --input");
}

std::vector<c10::IValue> values_of(const InputSet& inputs) {
  std::vector<c10::IValue> out;
  for (const auto& i : inputs) out.push_back(i.value);
  return out;
}

AcceptedInputs find_inputs(const std::vector<InputSet>& sets, const ModelFile& file,
                           const ModuleTree& tree, ForeignOperators& foreign, Limits& limits,
                           const Call& call, bool needs_values) {
  const size_t plans = foreign.plans();
  const bool no_choice = sets.size() == 1 && plans == 1;
  if (no_choice && !needs_values) return {sets[0], {}, {}};
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
  if (no_choice) return {sets[0], {}, {}};  // the recorded run reports the error
  if (plans > 1) report_unknown_operators(*first, foreign.guessed());
  report_no_fit(*first, sets, file.root().get_method("forward").function().getSchema());
}

}  // namespace tmeter::torch_backend
