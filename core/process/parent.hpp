// A program that started this one and wants it to end when it does.
#pragma once

namespace tmeter::core {

/// Ends this process (SIGTERM) as soon as its parent has, if $TMETER_PARENT has the parent's
/// process ID: nobody would take what it makes. The Python package sets it; a worker that is killed
/// leaves nothing running.
void end_with_parent();

}  // namespace tmeter::core
