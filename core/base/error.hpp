// The one error type of the host: a stable kind, and a sentence that says what was wrong, where,
// and what to do. Thrown inside, caught once per subcommand, which turns the kind into the exit
// status of docs/command-line.md.
#pragma once
#include <stdexcept>
#include <string>

namespace tmeter::core {

enum class ErrorKind {
  kInternal = 1,       ///< a defect of ours
  kUsage = 2,          ///< wrong options
  kAssertion = 3,      ///< an --assert does not hold
  kModel = 4,          ///< the model cannot be read
  kPlugin = 5,         ///< a plugin failed or cannot be opened
  kRun = 6,            ///< the model could not be run
  kInterrupted = 130,  ///< Ctrl-C, as shells count it
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_status() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

}  // namespace tmeter::core
