// Results: one table per metric and axis, and the coverage of the operators. Pure data.
#pragma once
#include <tmeter/abi/finding.h>
#include <tmeter/abi/metric.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/cells.hpp"

namespace tmeter::core {

inline constexpr size_t kAxisCount = 5;  // TMETER_AXIS_…

/// A metric's descriptor, resolved for this run, and its cells.
struct Column {
  std::string id, title, unit, weight, convention, description, plugin;
  uint32_t flags = 0;
  int32_t unit_kind = 0, axis = 0, aggregation = 0, better = 0;
  int32_t provenance = TMETER_PROVENANCE_COMPUTED;
  std::string provenance_text;
  bool failed = false;  // the plugin failed: every cell is unavailable
  std::array<Cells, kAxisCount> cells;

  tmeter_number cell(int32_t table, size_t index) const {
    const auto& column = cells[static_cast<size_t>(table)];
    return index < column.size() ? column[index] : tmeter_number{};
  }
};

struct UnknownOp {
  std::string op;
  uint64_t nodes = 0;
};

struct Coverage {
  std::string metric;  // empty: no metric has coverage
  uint64_t counted = 0, zero_by_rule = 0, unknown = 0;
  std::vector<UnknownOp> unknown_ops;  // most frequent first
  /// Share of the nodes that are counted or zero by rule; 1 for an empty graph.
  double ratio() const {
    const auto all = counted + zero_by_rule + unknown;
    return all ? static_cast<double>(counted + zero_by_rule) / static_cast<double>(all) : 1.0;
  }
};

struct Finding {
  int32_t severity = TMETER_SEVERITY_INFO;
  std::string rule, text, evidence, action, plugin;
  std::vector<tmeter_target> targets;
  std::vector<std::string> change_metrics;
  std::vector<tmeter_change> changes;  // their metrics point into change_metrics
  Finding() = default;
  Finding(Finding&&) = default;  // moving a vector keeps its elements' addresses
  Finding& operator=(Finding&&) = default;
};

/// A histogram of a target's values.
struct Distribution {
  std::string id, title, unit, plugin;
  tmeter_target of{};
  std::vector<double> edges;
  std::vector<uint64_t> counts;
};

/// A curve of y over x.
struct Series {
  std::string id, title, x_title, x_unit, y_title, y_unit, plugin;
  tmeter_target of{};
  std::vector<double> x, y;
};

struct Results {
  std::vector<Column> columns;
  Coverage coverage;
  std::vector<Finding> findings;  // most severe first
  std::vector<Distribution> distributions;
  std::vector<Series> series;

  const Column* find(std::string_view id) const {
    for (const auto& c : columns) {
      if (c.id == id) return &c;
    }
    return nullptr;
  }
};

inline bool is_number(const tmeter_number& n) {
  return n.kind == TMETER_NUMBER_INT || n.kind == TMETER_NUMBER_FLOAT;
}
inline double real(const tmeter_number& n) {
  return n.kind == TMETER_NUMBER_INT     ? static_cast<double>(n.i)
         : n.kind == TMETER_NUMBER_FLOAT ? n.f
                                         : 0.0;
}
inline bool is_known(const tmeter_number& n) {
  return is_number(n) || n.kind == TMETER_NUMBER_ZERO_BY_RULE;
}
/// A lower bound: a part of the value is missing.
inline bool is_partial(const tmeter_number& n) {
  return is_known(n) && (n.flags & TMETER_NUMBER_PARTIAL) != 0;
}
/// The value rests on an assumption (size_notes.hpp) and is not a bound.
inline bool is_assumed(const tmeter_number& n) {
  return is_known(n) && (n.flags & TMETER_NUMBER_ASSUMED) != 0;
}
/// A module handler gave the value of this call, or of every call of this module.
inline bool is_by_module(const tmeter_number& n) {
  return (n.flags & TMETER_NUMBER_BY_MODULE) != 0;
}
inline tmeter_number number(int64_t i) { return {TMETER_NUMBER_INT, 0, i, 0}; }
inline tmeter_number number(double f) { return {TMETER_NUMBER_FLOAT, 0, 0, f}; }
inline tmeter_number number_of_kind(int32_t kind) { return {kind, 0, 0, 0}; }

}  // namespace tmeter::core
