// DOT, the language of Graphviz: `dot -Tsvg model.dot > model.svg` draws it. tmeter itself runs no
// other program.
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>

namespace dot_report {

struct Options {
  bool operators = false;    // false: the module tree
  std::string attributes{};  // separated by commas; empty: by the kind of graph
  std::string color{};       // metric id, "none", or empty: the metric of cost
  std::string direction = "TB";
  size_t nodes = 2000;  // drawn at most; 0: all
  bool clusters = true;
  bool arrows = true;
  std::string background{};  // empty: none
  std::string shape = "box", node_color = "#ffffff", edge_color = "#666666";
};

/// Throws tmeter::Error(TMETER_BAD_USAGE) for attributes and metrics that the report lacks.
void write(const tmeter::Report& report, const Options& options, tmeter::Output& out);

}  // namespace dot_report
