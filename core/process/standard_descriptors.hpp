// Standard input, output and error, one of which may be closed when a program is started.
#pragma once

namespace tmeter::core {

/// Takes the numbers 0, 1 and 2 where they are free, so that no file that is opened later gets one
/// of them and with it what is meant for a terminal. Reading and writing still fail with EBADF.
void occupy_standard_descriptors();

}  // namespace tmeter::core
