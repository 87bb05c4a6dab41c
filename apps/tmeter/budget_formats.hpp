// The formats of `tmeter budget`: text, github, markdown.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::app {

// The names that reports on models have.
inline constexpr std::string_view kText = "text", kGithub = "github", kMarkdown = "markdown";

/// The result of one bound. `bound` is empty for a budget that could not be checked.
struct BudgetRow {
  enum State { kHolds, kBroken, kUnchecked } state = kHolds;
  std::string model, bound, words, why;
  size_t line = 0;  // of the budget's table
};

/// `file` holds the budgets.
std::string in_format(std::string_view format, const std::vector<BudgetRow>& rows,
                      std::string_view file);

}  // namespace tmeter::app
