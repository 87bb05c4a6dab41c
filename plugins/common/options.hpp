// Declarations of a plugin's options, one function for each type of option.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace plugins {

constexpr tmeter::OptionSpec text_option(std::string_view key, std::string_view text,
                                         std::string_view preset = {}) {
  return {.key = key, .default_value = preset, .text = text};
}

constexpr tmeter::OptionSpec flag_option(std::string_view key, bool preset, std::string_view text) {
  return {.key = key,
          .type = TMETER_OPTION_BOOL,
          .default_value = preset ? "true" : "false",
          .text = text};
}

/// `choices`: separated by spaces. Without `preset` the first one is the default.
constexpr tmeter::OptionSpec choice_option(std::string_view key, std::string_view choices,
                                           std::string_view text, std::string_view preset = {}) {
  return {.key = key,
          .type = TMETER_OPTION_CHOICE,
          .default_value = preset.empty() ? choices.substr(0, choices.find(' ')) : preset,
          .text = text,
          .choices = choices};
}

/// Accepts `min` … `max`.
constexpr tmeter::OptionSpec integer_option(std::string_view key, std::string_view preset,
                                            double min, double max, std::string_view text) {
  return {.key = key,
          .type = TMETER_OPTION_INT,
          .default_value = preset,
          .text = text,
          .min = min,
          .max = max};
}

/// Accepts `min` … `max`.
constexpr tmeter::OptionSpec real_option(std::string_view key, std::string_view preset, double min,
                                         double max, std::string_view text) {
  return {.key = key,
          .type = TMETER_OPTION_FLOAT,
          .default_value = preset,
          .text = text,
          .min = min,
          .max = max};
}

}  // namespace plugins
#pragma GCC visibility pop
