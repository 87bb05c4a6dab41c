// Advice as findings, which every report shows.
#include <tmeter/cpp/plugin.hpp>

static void look(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto step = call.option_int("multiple");
  for (const auto& node : graph.nodes()) {
    if (node.op() != "aten::linear") continue;
    const auto width = node.output().shape().back();
    if (width % step == 0) continue;
    tmeter::Finding f;
    f.severity = TMETER_SEVERITY_ADVICE;
    f.rule = "@name@.width";
    f.text = "a linear layer gives " + std::to_string(width) + " features, not a multiple of " +
             std::to_string(step);
    f.action = "round it up: matrix units work on whole tiles";
    call.add(f.about(node));
  }
}

TMETER_PLUGIN("com.example.@name@", "1.0.0", [](tmeter::Registrar& r) {
  r.option({.key = "multiple",
            .type = TMETER_OPTION_INT,
            .default_value = "64",
            .text = "the widths of linear layers should be multiples of this",
            .min = 1,
            .max = 4096});
  r.analysis("@name@", "", "", look);
});
