// Parsers of untrusted bytes as functions: each takes any input and either does its work or throws
// core::Error. Any other outcome (another exception, a signal, a sanitizer's report, a time-out) is
// a defect.
//
// `fuzz NAME` tries mutations of a corpus with an ordinary compiler (driver.cpp, in every test
// run); `./dev fuzz NAME` builds the same functions with libFuzzer and the sanitizers.
#pragma once
#include <span>
#include <string_view>

namespace tmeter::fuzz {

struct Target {
  const char* name;
  void (*run)(std::string_view input);
};

std::span<const Target> text_targets();
std::span<const Target> file_targets();

/// Null if no target has this name.
const Target* find_target(std::string_view name);

/// Runs the target and catches the exceptions it may throw.
void run(const Target& target, std::string_view input);

}  // namespace tmeter::fuzz
