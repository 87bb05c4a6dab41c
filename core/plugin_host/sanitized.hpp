// Libraries built with a sanitizer whose runtime has to be in the process from its start.
#pragma once
#include <string>

namespace tmeter::core {

/// Throws Error(kPlugin), which says what to do, for a library whose sanitizer this process lacks: opening
/// it would end the process. A file that cannot be read is left to whoever opens it.
void require_sanitizer(const std::string& library);

}  // namespace tmeter::core
