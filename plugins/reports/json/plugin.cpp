// Plugin "json": the machine-readable report.
#include <tmeter/cpp/plugin.hpp>

#include "writer.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "org.tmeter.json",
                                       .version = "1.0.0",
                                       .description = "Report as JSON, schema tmeter-report/1"}),
                   [](tmeter::Registrar& r) {
                     r.writer("json", "json", "application/json",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                json_report::write(report, out);
                              });
                   })
