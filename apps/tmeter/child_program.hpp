// Starts a program and waits for it, before the worker exists.
#pragma once
#include <string>
#include <vector>

namespace tmeter::app {

struct ProgramEnd {
  std::string output;   ///< of standard output, a MiB at most
  int status = 0;       ///< the status of waitpid
  std::string problem;  ///< why it could not be started; empty if it was started

  bool fine() const { return problem.empty() && status == 0; }
  /// "ended with status 2", "was ended by signal 14", or the problem.
  std::string words() const;
};

/// `arguments[0]` is the program's path. With `silent` its standard error is discarded. Throws
/// Error(kInterrupted) when Ctrl-C ended it.
ProgramEnd run_program(const std::vector<std::string>& arguments, bool silent = false);

}  // namespace tmeter::app
