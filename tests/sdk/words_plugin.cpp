// A plugin for every compiler (test_compilers.py): strings, numbers and functions in both
// directions across the boundary, in the C++ wrapper.
#include <tmeter/cpp/plugin.hpp>

namespace {

tmeter::Count words_of(const tmeter::Node& node, tmeter::Call& call) {
  if (call.option_bool("missing")) node.input("nothing");
  return tmeter::Count(call.option_int("times")) * node.input("weight").shape().rank() / 2;
}

void look(const tmeter::Graph& graph, tmeter::Call& call) {
  tmeter::Count words = 0;
  for (const auto node : graph.nodes()) words += call.read("words", node).count();
  tmeter::Finding finding;
  finding.rule = "words";
  finding.text = "there are " + std::to_string(words.value()) + " words";
  call.add(finding);
}

void print(const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
  for (const auto& metric : report.metrics()) {
    if (metric.id() == "words")
      out.print("{} words, {} of them long\n", report.total(metric), tmeter::fixed(0.5, 2));
  }
  for (const auto finding : report.findings()) out.print("{}\n", finding.text());
}

}  // namespace

TMETER_PLUGIN("com.acme.words", "1.0.0", [](tmeter::Registrar& r) {
  r.option({.key = "times", .type = TMETER_OPTION_INT, .default_value = "1", .text = "how often"});
  r.option({.key = "missing",
            .type = TMETER_OPTION_BOOL,
            .default_value = "false",
            .text = "reads a missing argument"});
  r.metric({.id = "words",
            .title = "words",
            .axis = TMETER_AXIS_NODE,
            .convention = "as many as the user says, at each linear layer"});
  r.op("aten::linear").handle("words", words_of);
  r.op("aten::gelu").zero("words");
  r.analysis("look", "words", "", look);
  r.writer("words", "words", "text/plain", print);
})
