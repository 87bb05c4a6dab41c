// Plugin "diff": the output of `tmeter diff A B` in six formats.
#include <tmeter/cpp/plugin.hpp>

#include "changes.hpp"
#include "plugins/common/options.hpp"

namespace {

constexpr std::string_view kAscii = "ascii";

using Write = void (*)(const diff_report::Changes&, tmeter::Output&);

void add(tmeter::Registrar& r, const char* name, const char* extension, const char* media,
         Write write) {
  r.writer(name, extension, media,
           [write](const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
             write(diff_report::Changes(report), out);
           });
}

void setup(tmeter::Registrar& r) {
  r.option(plugins::flag_option(kAscii, false, "ASCII only, in the text"));
  r.writer("diff-text", "diff.txt", "text/plain; charset=utf-8",
           [](const tmeter::Report& report, tmeter::Output& out, tmeter::Call& call) {
             diff_report::write_text(diff_report::Changes(report), out, call.option_bool(kAscii));
           });
  add(r, "diff-json", "diff.json", "application/json", diff_report::write_json);
  add(r, "diff-markdown", "diff.md", "text/markdown; charset=utf-8; variant=GFM",
      diff_report::write_markdown);
  add(r, "diff-html", "diff.html", "text/html", diff_report::write_html);
  add(r, "diff-github", "diff.github", "text/plain; charset=utf-8", diff_report::write_github);
  add(r, "diff-junit", "diff.junit", "application/xml", diff_report::write_junit);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.diff",
                       .version = "1.0.0",
                       .description = "Two models compared, as `tmeter diff` writes it"}),
                   [](tmeter::Registrar& r) { setup(r); })
