// Plugin "full-text": the whole report as text, from the summary to the last operator.
#include <tmeter/cpp/plugin.hpp>

#include "writer.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.full-text",
                       .version = "1.0.0",
                       .description = "The long report: summary, every module, parameter and "
                                      "operator, time, energy, recommendations"}),
                   [](tmeter::Registrar& r) {
                     r.writer("full-text", "txt", "text/plain; charset=utf-8",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                full_text_report::write(report, out);
                              });
                   })
