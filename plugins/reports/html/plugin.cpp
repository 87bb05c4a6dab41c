// Plugin "html": one file that shows a report in a browser, without a network.
#include <tmeter/cpp/plugin.hpp>

#include "page.hpp"

namespace html_report {
namespace {

template <class Write>
void block(tmeter::Output& out, std::string_view name, Write&& write) {
  Block block(out, name);
  Json json([&block](std::string_view text) { block.write(text); });
  write(json);
  json.flush();
  block.finish();
}

void write(const tmeter::Report& report, tmeter::Output& out) {
  out.write(page_before_data());
  block(out, "summary", [&](Json& json) { write_summary(json, report); });
  block(out, "modules", [&](Json& json) { write_modules(json, report); });
  block(out, "operators", [&](Json& json) { write_operators(json, report); });
  block(out, "tensors", [&](Json& json) { write_tensors(json, report); });
  const auto values = [&](std::string_view name, int32_t axis) {
    block(out, name, [&](Json& json) { write_values(json, report, axis); });
  };
  values("module-figures", TMETER_AXIS_MODULE);
  values("operator-figures", TMETER_AXIS_NODE);
  values("tensor-figures", TMETER_AXIS_TENSOR);
  block(out, "curves", [&](Json& json) { write_curves(json, report); });
  out.write(page_after_data());
}

}  // namespace
}  // namespace html_report

TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "org.tmeter.html",
                                       .version = "1.0.0",
                                       .description = "Report as one interactive HTML file"}),
                   [](tmeter::Registrar& r) {
                     r.writer("html", "html", "text/html",
                              [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
                                html_report::write(report, out);
                              });
                   })
