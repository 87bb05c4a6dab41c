// Plugin "text": the report for a terminal.
#include <tmeter/cpp/plugin.hpp>

#include "writer.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "org.tmeter.text",
                                       .version = "1.0.0",
                                       .description = "Report for a terminal: tree and table"}),
                   [](tmeter::Registrar& r) {
                     r.writer("text", "txt", "text/plain; charset=utf-8",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                text_report::write(report, out);
                              });
                   })
