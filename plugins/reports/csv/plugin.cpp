// Plugin "csv": tables for spreadsheets and data frames.
#include <tmeter/cpp/plugin.hpp>

#include "writer.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.csv",
                       .version = "1.0.0",
                       .description = "Report as CSV: a row per module, or per point of a sweep"}),
                   [](tmeter::Registrar& r) {
                     r.writer("csv", "csv", "text/csv; charset=utf-8; header=present",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                csv_report::write(report, out);
                              });
                   })
