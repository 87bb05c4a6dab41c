// `--open`: the report as a page, in the browser.
#pragma once
#include <string>
#include <vector>

#include "core/report/writing.hpp"

namespace tmeter::app {

/// Adds a page in the user's cache folder, unless one of the targets is already a page in a
/// file. Throws core::Error(kUsage) if the folder does not exist.
void add_page(std::vector<core::ReportTarget>& targets);

/// The file of the page among the targets, or nothing.
std::string page_of(const std::vector<core::ReportTarget>& targets);

/// Starts $BROWSER or xdg-open without waiting for it. If neither can be started, or there is no
/// display, a message names the file.
void open_page(const std::string& file, bool quiet);

}  // namespace tmeter::app
