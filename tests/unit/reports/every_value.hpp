// A report with every kind of value, and names as hostile as a file can contain.
#pragma once
#include "tests/unit/reports/fake_report.hpp"

namespace fake {

class EveryValue : public FakeReport {
 public:
  EveryValue();

 private:
  void make_graph();
  void make_values();
  void make_words();
  void make_sizes();
  std::deque<std::string> symbol_names_;
};

/// Attacks that a name from a file may contain: markup of every format, control characters, broken
/// UTF-8, a formula, direction overrides.
std::string hostile_name();

}  // namespace fake
