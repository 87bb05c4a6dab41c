#include "writer.hpp"

#include "../common/describe.hpp"
#include "label.hpp"
#include "plugins/common/utf8.hpp"

namespace dot_report {

void write_caption(const tmeter::Report& report, const Look& look, size_t left_out,
                   std::string_view things, reports::Buffer& out) {
  std::vector<std::string> lines{std::string(reports::model_name(report)) + "  " +
                                 std::string(report.property("model.file"))};
  if (const auto sizes = report.property("sizes"); !sizes.empty()) lines.emplace_back(sizes);
  if (left_out > 0)
    lines.push_back("… " + std::to_string(left_out) + " more " + std::string(things) +
                    ": --depth all --set dot.nodes=0");
  std::string caption = quoted(lines);
  caption.insert(caption.size() - 1,
                 "\\n" + escaped(look.legend()));  // longer than a readable name
  out << "  label=" << caption << ";\n";
}

void write(const tmeter::Report& report, const Options& options, tmeter::Output& out) {
  reports::Buffer buffer(out);
  buffer << "digraph " << quoted(reports::model_name(report)) << " {\n";
  buffer << "  rankdir=" << options.direction << ";\n";
  buffer << "  labelloc=t; fontname=\"sans-serif\"; fontsize=10;\n";
  if (!options.background.empty()) buffer << "  bgcolor=" << quoted(options.background) << ";\n";
  buffer << "  node [shape=" << quoted(options.shape)
         << " style=filled fillcolor=" << quoted(options.node_color)
         << " fontname=\"sans-serif\" fontsize=10];\n";
  buffer << "  edge [fontname=\"sans-serif\" fontsize=9 color=" << quoted(options.edge_color)
         << (options.arrows ? "" : " dir=none") << "];\n";
  if (options.operators)
    write_operators(report, options, buffer);
  else
    write_modules(report, options, buffer);
  buffer << "}\n";
  buffer.flush();
}

}  // namespace dot_report
