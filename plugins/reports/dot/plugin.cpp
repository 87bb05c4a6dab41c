// Plugin "dot": the module tree or the operators as a drawing for Graphviz.
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/options.hpp"
#include "writer.hpp"

namespace {

using tmeter::Call;

dot_report::Options options(const tmeter::Report& report, const Call& call) {
  dot_report::Options o;
  const bool by_operator = report.view("by") == "operator";
  o.operators = by_operator || call.option_text("of") == "operators";
  o.attributes = std::string(call.option_text("attributes"));
  o.color = std::string(call.option_text("color"));
  o.direction = std::string(call.option_text("direction"));
  o.nodes = static_cast<size_t>(call.option_int("nodes"));
  o.clusters = call.option_bool("clusters");
  o.arrows = call.option_bool("arrows");
  o.background = std::string(call.option_text("background"));
  o.shape = std::string(call.option_text("shape"));
  o.node_color = std::string(call.option_text("node-color"));
  o.edge_color = std::string(call.option_text("edge-color"));
  return o;
}

void setup(tmeter::Registrar& r) {
  r.option(plugins::choice_option("of", "modules operators",
                                  "nodes of the drawing; --by operator also chooses operators"));
  r.option(plugins::text_option(
      "attributes",
      "lines of a node, separated by commas: metric ids; for modules also type, text, kernel_size, "
      "input_size, output_size; for operators module, result, location"));
  r.option(plugins::text_option(
      "color", "metric whose share of the total sets the colour, or none; empty: the cost metric"));
  r.option(plugins::choice_option(
      "direction", "TB LR BT RL",
      "direction of the drawing: from top to bottom, from left to right, or the reverse"));
  r.option(plugins::integer_option(
      "nodes", "2000", 0, 10'000'000,
      "largest number of nodes, since Graphviz takes long for more; 0: all"));
  r.option(plugins::flag_option("clusters", true, "a box around the operators of a module"));
  r.option(plugins::flag_option("arrows", true, "false: lines without arrow heads"));
  const auto look = [&r](std::string_view key, std::string_view value, std::string_view text) {
    r.option(plugins::text_option(key, text, value));
  };
  look("background", "", "background colour, by its name in Graphviz; empty: none");
  look("shape", "box", "shape of the nodes, by its name in Graphviz");
  look("node-color", "#ffffff", "colour of nodes without a share of the cost");
  look("edge-color", "#666666", "colour of the lines");
  r.writer("dot", "dot", "text/vnd.graphviz",
           [](const tmeter::Report& report, tmeter::Output& out, Call& call) {
             dot_report::write(report, options(report, call), out);
           });
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.dot",
                       .version = "1.0.0",
                       .description = "Module tree or operators for Graphviz, coloured by cost"}),
                   [](tmeter::Registrar& r) { setup(r); })
