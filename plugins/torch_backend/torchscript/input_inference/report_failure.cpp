#include "torchscript/input_inference/report_failure.hpp"

#include <set>

#include "torchscript/input_inference/candidates.hpp"

namespace tmeter::torch_backend {
namespace {

/// "1x3x224x224, 1x3x256x256": what was inferred for one argument.
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
                  ", so which way the program goes cannot be told without running the model, and "
                  "the file holds no weights to run it with ('" +
                  missing_weight + "' is empty)");
}

void report_failure(const Failure& f, const InputSet& inputs) {
  if (f.own) std::rethrow_exception(f.own);
  if (f.data_dependent) {
    throw Error(TMETER_CANNOT_RUN, undecided_text(f) +
                                       ", so which way the program goes cannot be told without "
                                       "running the model on real data");
  }
  const auto given = given_text(inputs);
  const auto [what, of_weights] = misfit(f);
  if (!given.empty())
    throw Error(TMETER_BAD_MODEL, what + (of_weights ? " from " : ", with ") + given);
  const auto inferred = inferred_text(inputs);
  throw Error(TMETER_CANNOT_RUN,
              what + (inferred.empty() ? "" : ", with the inferred " + inferred));
}

void report_unknown_operators(const Failure& first, const std::string& operators) {
  throw Error(TMETER_CANNOT_RUN,
              "the model calls " + operators +
                  ", whose library is not here, and no guess at the shape of the result fits. With "
                  "the first, " +
                  misfit(first).text +
                  ". A plugin with a shape rule for it would tell (docs/abi.md)");
}

void report_no_fit(const Failure& first, const std::vector<InputSet>& tried,
                   const c10::FunctionSchema& forward) {
  std::string names;
  for (size_t i = 0; i < tried[0].size(); ++i) {
    const auto values = values_tried(tried, i);
    if (!values.empty()) names += (names.empty() ? "" : "; ") + tried[0][i].name + " as " + values;
  }
  throw Error(TMETER_BAD_USAGE,
              "the file does not say what inputs the model takes: " + signature(forward) +
                  ". None that was tried fits: " + names + ". With the first, " +
                  misfit(first).text + ". Give them with --input");
}

}  // namespace tmeter::torch_backend
