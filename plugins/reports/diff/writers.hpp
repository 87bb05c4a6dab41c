// The writers of a comparison.
#pragma once
#include "changes.hpp"

namespace diff_report {

void write_text(const Changes& changes, tmeter::Output& out, bool ascii);
void write_json(const Changes& changes, tmeter::Output& out);
void write_markdown(const Changes& changes, tmeter::Output& out);
void write_html(const Changes& changes, tmeter::Output& out);
void write_github(const Changes& changes, tmeter::Output& out);
void write_junit(const Changes& changes, tmeter::Output& out);

}  // namespace diff_report
