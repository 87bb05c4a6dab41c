// What reads bytes of others, as functions of bytes: each takes any input and either does its work
// or throws core::Error. Whatever else happens – another exception, a signal, a sanitizer's report,
// too much time – is a defect.
//
// `fuzz NAME` tries mutations of a corpus without any compiler's help (driver.cpp, in every test
// run);
// `./dev fuzz NAME` builds the same functions with libFuzzer and the sanitizers.
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

/// Null when there is none of this name.
const Target* find_target(std::string_view name);

/// Runs it; what it may throw is caught.
void run(const Target& target, std::string_view input);

}  // namespace tmeter::fuzz
