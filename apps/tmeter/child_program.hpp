// A program that is started and whose output is read.
#pragma once
#include <string>
#include <vector>

namespace tmeter::app {

struct ChildOutput {
  std::string text;     ///< standard output, at most 64 MiB of it
  std::string problem;  ///< "ended with status 2"; empty when it ended well
};

/// Its standard error is this process's, unless `quiet`. Throws core::Error(kInterrupted) when Ctrl-C ended
/// it.
ChildOutput run_child(const std::string& program, const std::vector<std::string>& arguments,
                      bool quiet = false);

}  // namespace tmeter::app
