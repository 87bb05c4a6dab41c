// Whose the lines are that come from a worker's standard output and error: those of the plugin that
// began last. Another one begins once what was printed before is read, so that each line is told
// with its plugin's name.
#pragma once
#include <string_view>

#include "core/process/activity.hpp"

namespace tmeter::core {

/// The worker's side: the pipe's end that plugins print into; the supervisor reads the other. -1,
/// as in the beginning: nobody does, and nothing is waited for.
void set_stdio_pipe(int fd);

/// The worker's side: from now on it is `plugin` that prints. Waits until the supervisor has read
/// what was printed before; no longer than 200 ms, and never again when that was not enough.
void attribute_stdio_to(std::string_view plugin);

/// The supervisor's side: while it lives, what is read is not yet told.
class StdioAttribution {
 public:
  StdioAttribution() { activity().is_listening = true; }
  ~StdioAttribution() { activity().is_listening = false; }
  StdioAttribution(const StdioAttribution&) = delete;
  StdioAttribution& operator=(const StdioAttribution&) = delete;
};

}  // namespace tmeter::core
