// The page around the data, made by web/build.mjs at build time: head with style and policy, then
// the data, then the program that shows it.
#pragma once
#include <string_view>

namespace html_report {

std::string_view page_before_data();
std::string_view page_after_data();

}  // namespace html_report
