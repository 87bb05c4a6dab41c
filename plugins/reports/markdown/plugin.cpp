// Plugin "markdown": a comment for a pull request.
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/options.hpp"
#include "writer.hpp"

namespace {

void setup(tmeter::Registrar& r) {
  r.option(plugins::integer_option("rows", "10", 1, 10'000, "rows of each table"));
  r.option(plugins::text_option("title", "heading; the name of the model when it is empty"));
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
