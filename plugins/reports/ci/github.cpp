// Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
#include <array>

#include "../common/buffer.hpp"
#include "../common/describe.hpp"
#include "plugins/common/utf8.hpp"
#include "writers.hpp"

namespace ci_report {
namespace {

// By TMETER_SEVERITY_…; infos make no annotation.
constexpr std::array<std::string_view, 4> kCommands{"", "notice", "warning", "error"};

// actions/toolkit, command.ts: characters to escape in a value; in a property ':' and ',', too.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : plugins::printable(text)) {
    if (c == '%')
      out += "%25";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

void put(reports::Buffer& out, std::string_view command, std::string_view title,
         std::string_view text) {
  constexpr size_t kMaxMessage = 4000;  // GitHub cuts at about 4 KB, in the middle of a character
  out << "::" << command << " title=" << escaped(plugins::readable(title), true)
      << "::" << escaped(plugins::shortened(text, kMaxMessage), false) << "\n";
}

}  // namespace

void write_github(const tmeter::Report& report, tmeter::Output& output, const Outcome& outcome_of,
                  const std::vector<std::string>& notices) {
  reports::Buffer out(output);
  const auto model = "tmeter " + std::string(report.property("model.file"));
  for (const auto& a : report.assertions())
    put(out, a.holds() ? "notice" : "error", model,
        std::string(a.expression()) + (a.holds() ? " holds: " : " does not hold: ") +
            outcome_of(report, a));
  for (const auto& text : notices) put(out, "notice", model, text);
  for (const auto& text : report.warnings()) put(out, "warning", model, text);
  if (const auto unknown = reports::describe_unknown(report); !unknown.empty())
    put(out, "warning", model, unknown);
  for (const auto& f : report.findings()) {
    const auto i = static_cast<size_t>(f.severity());
    if (i >= kCommands.size() || kCommands[i].empty()) continue;
    put(out, kCommands[i], model,
        std::string(f.text()) + (f.action().empty() ? "" : " – " + std::string(f.action())));
  }
  out.flush();
}

}  // namespace ci_report
