// For terminals and logs that show nothing but ASCII.
#pragma once
#include <string>
#include <string_view>

namespace text_report {

/// Appends `text` (printable) as ASCII, as many columns wide: "├─ 3 × …" becomes "+- 3 x .".
void add_ascii(std::string_view text, std::string& out);

}  // namespace text_report
