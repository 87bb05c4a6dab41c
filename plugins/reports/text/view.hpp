// How the user wants to see the report: --by, --depth, --columns, --sort, --raw.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

namespace text_report {

enum class By { kModule, kOperator, kType, kTensor };

struct View {
  By by = By::kModule;
  std::optional<size_t> depth;                      // none: chosen by the number of rows
  std::optional<std::vector<std::string>> columns;  // none: every metric that is not a detail
  std::optional<size_t> deepest;                    // levels shown at most, if `depth` does not say
  std::string sort;                                 // metric id; empty: as in the model
  bool fold = true;                                 // draw identical siblings once
  bool repr = false;                                // modules as PyTorch prints them
  bool all_notes =
      false;  // of what every figure counts, not of what may differ from run to run alone
  bool no_notes = false;  // none of these
  bool raw = false;       // plain numbers: no scaling, no abbreviation
};

/// Throws tmeter::Error(TMETER_BAD_USAGE) naming the option and what it accepts.
View read_view(const tmeter::Report& report);

}  // namespace text_report
