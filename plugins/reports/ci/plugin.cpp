// Plugin "ci": assertions for build servers, as JUnit's XML and GitHub's annotations.
#include <tmeter/cpp/plugin.hpp>

#include "writers.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.ci",
                       .version = "1.0.0",
                       .description = "--assert for build servers: JUnit, GitHub annotations"}),
                   [](tmeter::Registrar& r) {
                     r.writer("junit", "xml", "application/xml",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                ci_report::write_junit(report, out);
                              });
                     r.writer("github", "txt", "text/plain; charset=utf-8",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                ci_report::write_github(report, out);
                              });
                   })
