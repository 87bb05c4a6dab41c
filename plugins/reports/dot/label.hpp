// The two drawings, and labels and colours of their nodes.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <variant>
#include <vector>

#include "../common/buffer.hpp"
#include "../common/cells.hpp"
#include "writer.hpp"

namespace dot_report {

/// "text" as a quoted string: nothing in it ends the string, or is an escape (\n, \N) or HTML.
/// Printable, and cut to a readable length.
std::string quoted(std::string_view text);

/// A label of several lines.
std::string quoted(const std::vector<std::string>& lines);

/// The content of the quotes, in full length.
std::string escaped(std::string_view text);

/// A line of a node: a metric, or a word such as "type".
using Attribute = std::variant<tmeter::Metric, std::string>;

/// The lines of each node, and its colour, which shows the share of the total.
class Look {
 public:
  /// `words`: the attributes of this kind of node other than metrics.
  Look(const tmeter::Report& report, const Options& options,
       const std::vector<std::string_view>& words, const std::vector<std::string_view>& usual);

  const std::vector<Attribute>& attributes() const { return attributes_; }
  const std::optional<tmeter::Metric>& color_metric() const { return color_; }

  /// "MACs 118.01 M"
  static std::string line(const tmeter::Metric& metric, const tmeter::Cell& cell);

  /// fillcolor="#fdbb84": white for nothing, red for all, dashed when unknown. Empty without a
  /// metric.
  std::string style(const tmeter::Cell& cell) const;

  /// Explains colours and signs.
  std::string legend() const;

 private:
  std::vector<Attribute> attributes_;
  std::optional<tmeter::Metric> color_;
  double whole_ = 0;
};

/// The module tree. Runs of identical siblings are drawn once, with a count at their edge.
void write_modules(const tmeter::Report& report, const Options& options, reports::Buffer& out);

/// Operators and the tensors between them, in boxes by module.
void write_operators(const tmeter::Report& report, const Options& options, reports::Buffer& out);

/// The label of the whole graph: model, omitted parts, legend.
void write_caption(const tmeter::Report& report, const Look& look, size_t left_out,
                   std::string_view things, reports::Buffer& out);

}  // namespace dot_report
