// Files that hold saved reports.
#pragma once
#include <string>

#include "core/report_reader/saved_report.hpp"

namespace tmeter::app {

/// Throws core::Error(kModel) that begins with the path.
core::SavedReport open_report(const std::string& path);

}  // namespace tmeter::app
