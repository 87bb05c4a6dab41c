// Ends this program when the program that started it ends.
#pragma once

namespace tmeter::core {

/// Ends this process (SIGTERM) as soon as its parent has, if $TMETER_PARENT has the parent's
/// process ID: its reports would have no reader. The Python package sets the variable, so that a
/// killed Python worker leaves no process running.
void end_with_parent();

}  // namespace tmeter::core
