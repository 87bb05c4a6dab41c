// `--assert EXPR`: a bound that must hold, such as "macs<=5G", "coverage==100%", "unknown==0" or
// 'module("layer4").macs < 1G'.
//
// All bounds of a run are evaluated, so that a report shows each with its value.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

struct Assertion {
  std::string text;    // as the user wrote it
  std::string module;  // path, without a leading dot; empty: the whole model
  std::string metric;  // id, or "coverage" or "unknown", which are of the whole model
  std::string op;
  tmeter_number limit{};  // an exact integer where it can be one
};

/// Throws Error(kUsage) when the text is no assertion; needs no model.
Assertion parse_assertion(const std::string& text);

struct AssertionResult {
  Assertion assertion;
  std::string subject;       // "macs", 'module("layer4").macs'
  size_t metric = SIZE_MAX;  // index of the column; SIZE_MAX for "coverage" and "unknown"
  size_t module = 0;         // index
  tmeter_number value{};
  bool holds = false;
};

/// Looks its value up. Throws Error(kUsage), naming the nearest, for a metric or module that is
/// not there: a slip of the user's, to be told before anything is written.
AssertionResult evaluate(const Assertion& assertion, const Graph& graph, const Results& results);

/// Throws Error(kAssertion) naming each that does not hold, with its value.
void require_all(const std::vector<AssertionResult>& results);

}  // namespace tmeter::core
