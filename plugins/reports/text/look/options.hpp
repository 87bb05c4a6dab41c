// The options of the text report's tables: what each is, what is built in, and where it goes.
#pragma once
#include <span>

#include "settings.hpp"

namespace text_report {

/// What an option's text is to be written into.
struct OptionTarget {
  Look& look;
  std::string_view name;  // of the level or column: "default", "0", "macs"
  size_t given;
};

struct Option {
  tmeter::OptionSpec spec;
  void (*set)(const OptionTarget& target, std::string_view text);  // throws Mistake
};

std::span<const Option> all_options();

}  // namespace text_report
