// `--assert EXPR`: a bound that must hold, such as "macs<=5G", "coverage==100%", "unknown==0" or
// 'module("layer4").macs < 1G'; "fits", a value that must be 1; of a comparison of two models also
// "diff.macs <= +2%".
//
// All bounds of a run are evaluated, so that a report shows each with its value.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/results.hpp"
#include "core/base/quantity.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

struct Assertion {
  std::string text;    // as the user wrote it
  std::string module;  // path, without a leading dot; empty: the whole model
  std::string metric;  // id, or "coverage" or "unknown", which count operators of the whole model
  std::string op;
  bool alone = false;               // "fits": no comparison was written
  bool change = false;              // "diff.macs": after minus before in a comparison
  bool relative = false;            // the limit is in %, a share of the value before
  tmeter_number limit{};            // finite; an exact integer if possible
  Dimension unit = kDimensionless;  // dimension of the limit's unit
  std::string_view unit_name{};     // "GiB"; empty: the limit has none
  double unit_scale = 1;
};

/// Throws Error(kUsage) if the text is not an assertion. Needs no model.
Assertion parse_assertion(const std::string& text);

/// Throws Error(kUsage) for "macs<=5s", whose limit is not a count.
void require_unit_of(const Assertion& assertion, const Column& column);

/// "coverage" and "unknown" count operators of the whole model; they are not metrics.
bool is_of_operators(const Assertion& assertion);

struct AssertionResult {
  Assertion assertion;
  std::string subject;       // "macs", 'module("layer4").macs'
  size_t metric = SIZE_MAX;  // index of the column; SIZE_MAX for "coverage" and "unknown"
  size_t module = 0;         // index
  tmeter_number value{};
  bool holds = false;
};

/// Looks up its value. Throws Error(kUsage) for an unknown metric or module, naming the nearest:
/// a mistake of the user, reported before anything is written.
AssertionResult evaluate(const Assertion& assertion, const Graph& graph, const Results& results);

/// The column with the assertion's id or title (in any case of letters). Throws Error(kUsage).
size_t find_column(const Assertion& assertion, const Results& results);

/// "4.089 G" beside "5G", "4089184256", "+2.3 %", "at least 12": the value for messages, in the
/// unit of the limit.
std::string shown_value(const AssertionResult& result);

/// True if the value is within the limit; false if a partial, assumed or missing value leaves it
/// open.
bool holds(const tmeter_number& value, const Assertion& assertion);

/// Throws Error(kAssertion) naming each failed assertion with its value.
void require_all(const std::vector<AssertionResult>& results);

}  // namespace tmeter::core
