// Plugin "xml": the machine-readable report for XML tools.
#include <tmeter/cpp/plugin.hpp>

#include "writer.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "org.tmeter.xml",
                                       .version = "1.0.0",
                                       .description = "Report as XML, schema tmeter-report-1.xsd"}),
                   [](tmeter::Registrar& r) {
                     r.writer("xml", "xml", "application/xml",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                xml_report::write(report, out);
                              });
                   })
