// `tmeter manual`: the manual page, from the text of `--help`.
#include <algorithm>

#include "apps/tmeter/command_line.hpp"
#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;

/// Text for roff: escapes '\' and '-', and lines that would be requests.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string entry(const std::string& head, std::string_view text) {
  return ".TP\n" + head + "\n" + roff(text) + "\n";
}

std::string option_head(const OptionText& o) {
  std::string head = "\\fB" + roff(o.name) + "\\fR";
  if (!o.short_name.empty()) head = "\\fB" + roff(o.short_name) + "\\fR, " + head;
  return o.value.empty() ? head : head + " \\fI" + roff(o.value) + "\\fR";
}

std::string page() {
  std::string out = ".TH TMETER 1 \"\" \"tmeter " TMETER_VERSION
                    "\"\n"
                    ".SH NAME\ntmeter \\- cost and content of PyTorch model files\n.SH SYNOPSIS\n";
  for (const auto& c : usages()) out += ".nf\n\\fB" + roff(c.usage) + "\\fR\n.fi\n";
  out += ".SH COMMANDS\n";
  for (const auto& c : usages()) out += entry("\\fB" + roff(c.usage) + "\\fR", c.text);
  std::string group;
  for (const auto& o : option_texts()) {
    if (o.group != group) {
      group = o.group;
      std::string title = group;
      std::transform(title.begin(), title.end(), title.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      });
      out += ".SH " + title + "\n";
    }
    out += entry(option_head(o), o.text);
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : exit_statuses())
    out += entry(std::to_string(status), meaning);
  return out;
}

}  // namespace

int manual_command(const Arguments& arguments) {
  if (!arguments.empty())
    throw Error(ErrorKind::kUsage,
                "`tmeter manual` takes no arguments; it prints a manual page: "
                "`tmeter manual | man -l -`");
  Terminal::output(page());
  return 0;
}

}  // namespace tmeter::app
