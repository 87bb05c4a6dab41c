// Standard input, output and error, one of which may be closed when a program is started.
#pragma once

namespace tmeter::core {

/// Takes the free ones of the numbers 0, 1 and 2, so that no file opened later gets one of them and
/// receives terminal output. Reading and writing still fail with EBADF.
void occupy_standard_descriptors();

}  // namespace tmeter::core
