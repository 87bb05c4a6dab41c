// Plugin "markdown": a comment for a pull request.
#include <tmeter/cpp/plugin.hpp>

#include "writer.hpp"

namespace {

void setup(tmeter::Registrar& r) {
  r.option({.key = "rows",
            .type = TMETER_OPTION_INT,
            .default_value = "10",
            .text = "rows of each table",
            .min = 1,
            .max = 10'000});
  r.option({.key = "title",
            .default_value = "",
            .text = "heading; the name of the model when it is empty"});
  r.writer("markdown", "md", "text/markdown; charset=utf-8; variant=GFM",
           [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call& call) {
             const auto rows = static_cast<size_t>(call.option_int("rows"));
             markdown_report::write(report, {rows, std::string(call.option_text("title"))}, out);
           });
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.markdown",
                       .version = "1.0.0",
                       .description = "Report as Markdown, for a comment on a pull request"}),
                   [](tmeter::Registrar& r) { setup(r); })
