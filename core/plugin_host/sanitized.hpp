// Detects libraries built with a sanitizer, whose runtime has to be in the process from its start.
#pragma once
#include <string>

namespace tmeter::core {

/// Throws Error(kPlugin) with a remedy for a library whose sanitizer this process lacks, because
/// opening it would end the process. Ignores a file that cannot be read; opening it reports the
/// error.
void require_sanitizer(const std::string& library);

}  // namespace tmeter::core
