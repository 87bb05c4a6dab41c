// Attributes the lines that a worker prints to standard output and error to the plugin that started
// last. Before another plugin starts, the supervisor reads all that was printed, so that each line
// is shown with its plugin's name.
#pragma once
#include <string_view>

#include "core/process/activity.hpp"

namespace tmeter::core {

/// Worker: sets the end of the pipe that plugins print into; the supervisor reads the other end.
/// -1, the initial value: there is no reader, and no wait.
void set_stdio_pipe(int fd);

/// Worker: attributes later output to `plugin`. Waits until the supervisor has read the earlier
/// output, for at most 200 ms; after one such time-out it does not wait again.
void attribute_stdio_to(std::string_view plugin);

/// Supervisor: while it lives, lines have been read that are not shown yet.
class StdioAttribution {
 public:
  StdioAttribution() { activity().is_listening = true; }
  ~StdioAttribution() { activity().is_listening = false; }
  StdioAttribution(const StdioAttribution&) = delete;
  StdioAttribution& operator=(const StdioAttribution&) = delete;
};

}  // namespace tmeter::core
