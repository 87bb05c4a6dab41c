#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "../common/describe.hpp"
#include "label.hpp"

namespace dot_report {
namespace {

using tmeter::Metric;
using tmeter::Node;
using tmeter::Report;
using tmeter::Value;

class OperatorGraph {
 public:
  OperatorGraph(const Report& report, const Options& options, reports::Buffer& out)
      : report_(report),
        graph_(report.graph()),
        shown_(options.nodes ? std::min(options.nodes, graph_.nodes().size())
                             : graph_.nodes().size()),
        clusters_(options.clusters),
        look_(report, options, {"module", "result", "location", "overload"}, {"result"}),
        out_(out) {}

  void write() {
    inputs();
    if (clusters_)
      boxes();
    else
      for (size_t i = 0; i < shown_; ++i) node(graph_.nodes()[i]);
    for (size_t i = 0; i < shown_; ++i) edges_into(graph_.nodes()[i]);
    outputs();
    write_caption(report_, look_, graph_.nodes().size() - shown_, "operators", out_);
  }

 private:
  void inputs() {
    const auto inputs = graph_.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs_.emplace(inputs[i].handle(), i);
      terminal("in" + std::to_string(i), reports::describe_input(graph_, i));
    }
  }

  void outputs() {
    const auto outputs = graph_.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto id = "out" + std::to_string(i);
      terminal(id, "output " + reports::describe(outputs[i]));
      edges(outputs[i], id);
    }
  }

  void terminal(const std::string& id, const std::string& label) {
    out_ << "  " << id << " [label=" << quoted(label) << " shape=ellipse];\n";
  }

  // Module calls nest: the box of a call contains the boxes of its inner calls.
  void boxes() {
    const auto calls = graph_.module_calls();
    std::vector<std::vector<size_t>> nodes(calls.size() + 1), inner(calls.size() + 1);
    for (size_t i = 0; i < calls.size(); ++i)
      inner[calls[i].parent() ? calls[i].parent().index() : calls.size()].push_back(i);
    for (size_t i = 0; i < shown_; ++i) {
      const auto call = graph_.nodes()[i].call();
      nodes[call ? call.index() : calls.size()].push_back(i);
    }
    // Boxes without content are not drawn. Calls come after their callers.
    std::vector<size_t> inside(calls.size() + 1);
    for (size_t i = calls.size(); i-- > 0;) {
      inside[i] += nodes[i].size();
      inside[calls[i].parent() ? calls[i].parent().index() : calls.size()] += inside[i];
    }
    box(calls.size(), nodes, inner, inside);
  }

  using Lists = std::vector<std::vector<size_t>>;
  void box(size_t call, const Lists& nodes, const Lists& inner, const std::vector<size_t>& inside) {
    const bool outside = call + 1 == nodes.size();
    const auto module = outside ? tmeter::Module() : graph_.module_calls()[call].module();
    const bool drawn = module && module.index() > 0;
    if (drawn) {
      out_ << "  subgraph cluster" << std::to_string(call)
           << " {\n  label=" << quoted(module.path()) << "; color=\"#bbbbbb\";\n";
    }
    for (const auto i : nodes[call]) node(graph_.nodes()[i]);
    for (const auto c : inner[call])
      if (inside[c] > 0) box(c, nodes, inner, inside);
    if (drawn) out_ << "  }\n";
  }

  void node(const Node& n) {
    std::vector<std::string> lines{std::string(n.op())};
    for (const auto& a : look_.attributes()) {
      if (const auto* metric = std::get_if<Metric>(&a))
        lines.push_back(Look::line(*metric, report_.cell(*metric, n)));
      else if (const auto text = attribute_text(n, std::get<std::string>(a)); !text.empty())
        lines.push_back(text);
    }
    const auto path = n.call() ? n.call().module().path() : std::string_view();
    out_ << "  n" << std::to_string(n.index()) << " [label=" << quoted(lines)
         << " tooltip=" << quoted(path);
    if (const auto& metric = look_.color_metric()) out_ << look_.style(report_.cell(*metric, n));
    out_ << "];\n";
  }

  static std::string attribute_text(const Node& n, const std::string& key) {
    if (key == "module") return n.call() ? std::string(n.call().module().path()) : "";
    if (key == "location") return std::string(n.location());
    if (key == "overload") return std::string(n.overload());
    return n.result_count() ? reports::describe(n.result(0)) : "";
  }

  void edges_into(const Node& n) {
    seen_.clear();
    for (size_t i = 0; i < n.arg_count(); ++i) edges(n.arg(i), "n" + std::to_string(n.index()));
  }

  // Parameters are not drawn, because a network has as many of them as operators.
  void edges(const Value& value, const std::string& to) {
    if (value.is_list()) {
      for (size_t i = 0; i < value.size(); ++i) edges(value[i], to);
      if (value.size() > 0) return;
    }
    const auto producer = value.producer();
    const auto input = inputs_.find(value.handle());
    std::string from;
    if (producer && producer.index() < shown_)
      from = "n" + std::to_string(producer.index());
    else if (input != inputs_.end())
      from = "in" + std::to_string(input->second);
    if (from.empty() || !seen_.insert(from + ">" + to).second) return;
    out_ << "  " << from << " -> " << to << ";\n";
  }

  const Report& report_;
  const tmeter::Graph graph_;
  const size_t shown_;
  const bool clusters_;
  const Look look_;
  reports::Buffer& out_;
  std::unordered_map<const tmeter_value*, size_t> inputs_;
  std::set<std::string> seen_;  // edges of the current node: a value used twice is one edge
};

}  // namespace

void write_operators(const Report& report, const Options& options, reports::Buffer& out) {
  OperatorGraph(report, options, out).write();
}

}  // namespace dot_report
