// The budgets of a repository: [[budget]] tables of a configuration file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tmeter::core {

/// One [[budget]] table.
struct Budget {
  std::string model;                    // path, relative to the file's folder
  std::vector<std::string> assertions;  // "macs <= 5 G"
  double slack = 0;                     // share that --update adds: "5%" is 0.05
  std::string report;                   // saved report that --update writes; may be empty
  std::vector<std::string> inputs, bindings;
  std::string place;          // "tmeter.toml:3:1"
  size_t line = 0;            // line of that place
  size_t begin = 0, end = 0;  // byte range of the list of assertions in the file
};

struct BudgetFile {
  std::string text;
  std::vector<Budget> budgets;
};

/// Throws Error(kUsage) with line and column, and for a file without budgets.
BudgetFile read_budgets(const std::string& path);

/// The text with other assertions; everything else is unchanged, comments too. `lists[i]` belongs
/// to budget i.
std::string with_assertions(const BudgetFile& file,
                            const std::vector<std::vector<std::string>>& lists);

}  // namespace tmeter::core
