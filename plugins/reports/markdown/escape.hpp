// Names as Markdown: GitHub's tables and inline HTML know more special characters than CommonMark.
#pragma once
#include <string>
#include <string_view>

namespace markdown_report {

/// Literal text: nothing in it is markup, HTML, a link, a mention of a person
/// (@name), of an issue (#1) or an emoji (:name:). Printable and cut to a readable length.
std::string escaped(std::string_view text);

/// The same as code: `layer1.0.conv1`, safe inside tables.
std::string code(std::string_view text);

}  // namespace markdown_report
