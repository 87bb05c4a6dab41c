// Plugin "xlsx": a workbook for spreadsheets, a sheet for each table.
#include <tmeter/cpp/plugin.hpp>

#include "writer.hpp"

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.xlsx",
                       .version = "1.0.0",
                       .description = "Report as an Excel workbook: totals, modules, "
                                      "operators, tensors, findings"}),
                   [](tmeter::Registrar& r) {
                     r.writer("xlsx", "xlsx",
                              "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                xlsx_report::write(report, out);
                              });
                   })
