// Plugin "full-text": the whole report as text, from the summary to the last operator.
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/options.hpp"
#include "writer.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.full-text",
                       .version = "1.0.0",
                       .description = "The long report: summary, every module, parameter and "
                                      "operator, time, energy, recommendations"}),
                   [](tmeter::Registrar& r) {
                     r.option(plugins::flag_option("ascii", false, "ASCII only"));
                     r.writer(
                         "full-text", "txt", "text/plain; charset=utf-8",
                         [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call& call) {
                           full_text_report::write(report, out, call.option_bool("ascii"));
                         });
                   })
