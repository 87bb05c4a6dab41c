// Plugin "netron": costs on the graph that Netron draws.
#include <tmeter/cpp/plugin.hpp>

#include "writer.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.netron",
                       .version = "1.0.0",
                       .description = "Attachment for Netron: drop it onto the opened model"}),
                   [](tmeter::Registrar& r) {
                     r.writer("netron", "json", "application/json",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                netron_report::write(report, out);
                              });
                   })
