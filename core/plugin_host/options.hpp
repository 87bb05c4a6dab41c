// A plugin's options: its declarations combined with the user's settings, and checked.
#pragma once
#include <tmeter/abi/options.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/settings.hpp"

namespace tmeter::core {

struct OptionValue {
  int32_t type = TMETER_OPTION_TEXT;
  std::string text;
  int64_t i = 0;
  double f = 0;
  bool b = false;
};

using ResolvedOptions = std::map<std::string, OptionValue, std::less<>>;

/// A given option of a table (abi/draft/option_tables.h).
struct GivenOption {
  std::string path;
  uint32_t declared = 0;  // index
  OptionValue value;
  Setting setting;
};

struct GivenOptions {
  std::map<std::string, Setting> flat;  // for resolve_options
  std::vector<GivenOption> of_tables;   // by path
};

/// Splits `given` into options of tables, checked like resolve_options, and flat ones.
/// Throws Error(kUsage).
GivenOptions take_tables(std::span<const tmeter_option_desc> declared,
                         const std::map<std::string, Setting>& given);

/// Why a declared default is invalid; empty if it is valid. Defaults of open plugins are
/// valid.
std::string problem_of_default(const tmeter_option_desc& option);

/// A value of the option `declared`. Throws Error(kUsage) beginning with `name` for another text.
OptionValue option_value(const tmeter_option_desc& declared, const std::string& text,
                         const std::string& name);

/// Defaults overridden by `given`. Throws Error(kUsage) naming the setting, the defect, and the
/// nearest known key (including those of `tables`, which are not resolved here) or the allowed
/// values.
ResolvedOptions resolve_options(const std::string& plugin,
                                std::span<const tmeter_option_desc> declared,
                                const std::map<std::string, Setting>& given,
                                std::span<const tmeter_option_desc> tables = {});

}  // namespace tmeter::core
