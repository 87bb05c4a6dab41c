// The options of the text report's tables: descriptions, defaults, and setters.
#pragma once
#include <span>

#include "settings.hpp"

namespace text_report {

/// The setting to which an option's text is written.
struct OptionTarget {
  Look& look;
  std::string_view name;  // of the level or column: "default", "0", "macs"
  size_t given;           // index among the given options
};

struct Option {
  tmeter::OptionSpec spec;
  void (*set)(const OptionTarget& target, std::string_view text);  // throws Mistake
};

std::span<const Option> all_options();

}  // namespace text_report
