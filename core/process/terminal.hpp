// The one mouth: every byte that tmeter puts on standard error or standard output goes through
// here, in the supervisor. Messages become one line each, whatever is in them; what goes to a
// terminal can only be text, colours and line ends.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/base/progress.hpp"

namespace tmeter::core {

class Terminal {
 public:
  explicit Terminal(bool progress) : progress_(progress) {}

  /// "tmeter: LINE" on standard error; what was said before is not said again.
  void message(std::string_view line);
  void progress(uint64_t done, uint64_t total, std::string_view unit);
  void clear_progress() { progress_.clear(); }

  /// All of it, to standard output. Throws Error(write_failure(…)).
  static void output(std::string_view bytes);

 private:
  std::set<std::string, std::less<>> said_;
  Progress progress_;
};

}  // namespace tmeter::core
