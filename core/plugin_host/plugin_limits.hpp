// Limits of a plugin's strings and counts in a report; docs/limits.md lists them for users. A
// longer text is cut, because people read it. A higher count is the plugin's failure, because a
// report with a part of the findings would mislead.
#pragma once
#include <cstddef>

namespace tmeter::core::plugin_limits {

inline constexpr size_t kTextBytes = 8 << 10;  // messages, findings, conventions
inline constexpr size_t kTitleBytes = 1'000;   // names, titles, units

// Messages of one plugin. One more warning reports that the others are omitted.
inline constexpr size_t kWarnings = 10'000;
inline constexpr size_t kFindings = 100'000;
inline constexpr size_t kFindingBytes = size_t{256} << 20;        // of all their strings
inline constexpr size_t kTargets = 20'000'000, kChanges = 1'000;  // of all findings; of one
inline constexpr size_t kDistributions = 2'000'000, kSeries = 2'000'000;
inline constexpr size_t kNumbers = 100'000'000;  // edges, counts and points of all of them
inline constexpr size_t kFacts = 1'000;          // of a run of the model

// Items of a table. Every metric is a column of the report, of a cell for each row.
inline constexpr size_t kMetrics = 4'096;
inline constexpr size_t kHandlers = 65'536;    // and other items that exist once per operator
inline constexpr size_t kItems = 4'096;        // of the other tables
inline constexpr size_t kMatches = 1'000;      // of a loader
inline constexpr size_t kListBytes = 1 << 20;  // of an item's strings: choices, metrics

}  // namespace tmeter::core::plugin_limits
