// Plugin "text": the report for a terminal.
#include <tmeter/cpp/option_tables.hpp>

#include "look/look.hpp"
#include "writer.hpp"

namespace {

text_report::Look read_look(const tmeter::Call& call) {
  const tmeter::GivenOptions options(call);
  std::vector<text_report::GivenText> given;
  for (size_t i = 0; i < options.size(); ++i) {
    const auto o = options[i];
    given.push_back({std::string(tmeter::to_view(o.path)), std::string(tmeter::to_view(o.text))});
  }
  return text_report::Look::make(
      given, [options](size_t i, size_t at, const std::string& what) { options.fail(i, at, what); },
      [options](std::string_view id) { return options.is_metric(id); });
}

}  // namespace

TMETER_PLUGIN_WITH_OPTION_TABLES(
    (tmeter::PluginInfo{.id = "org.tmeter.text",
                        .version = "1.0.0",
                        .description = "Report for a terminal: tree and table"}),
    text_report::option_tables, [](tmeter::Registrar& r) {
      r.writer("text", "txt", "text/plain; charset=utf-8",
               [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call& call) {
                 text_report::write(report, out, read_look(call));
               });
    })
