// Plugin "csv": tables for spreadsheets and data frames (csv), and for line tools (tsv).
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/options.hpp"
#include "writer.hpp"

namespace {

constexpr std::string_view kLeadingDot = "leading-dot";
constexpr std::string_view kGuardFormulas = "guard-formulas";

csv_report::Options options(const tmeter::Call& call, csv_report::Format format) {
  return {format, call.option_bool(kLeadingDot), call.option_bool(kGuardFormulas)};
}

template <csv_report::Format format>
void write(const tmeter::Report& report, tmeter::Output& out, tmeter::Call& call) {
  csv_report::write(report, options(call, format), out);
}

void setup(tmeter::Registrar& r) {
  r.option(plugins::flag_option(kLeadingDot, false, "module paths begin with a dot: .layer1.0"));
  r.option(plugins::flag_option(
      kGuardFormulas, true,
      "an apostrophe before text that a spreadsheet would run as a formula; false: names as "
      "they are"));
  r.writer("csv", "csv", "text/csv; charset=utf-8; header=present",
           write<csv_report::Format::kCsv>);
  r.writer("tsv", "tsv", "text/tab-separated-values; charset=utf-8",
           write<csv_report::Format::kTsv>);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.csv",
                       .version = "1.2.0",
                       .description = "Report as CSV or TSV: modules, operators, types, tensors "
                                      "(--by), or the points of a sweep"}),
                   [](tmeter::Registrar& r) { setup(r); })
