// A custom value for every operator; modules and the model get its sum.
#include <tmeter/cpp/plugin.hpp>

// The number of elements that an operator produces.
static tmeter::Count elements(const tmeter::Node& n) {
  tmeter::Count all = 0;
  for (size_t i = 0; i < n.result_count(); ++i) all += n.result(i).numel();
  return all;
}

TMETER_PLUGIN("com.example.@name@", "1.0.0", [](tmeter::Registrar& r) {
  r.metric({.id = "@name@",
            .title = "@name@",
            .unit = "elements",
            .axis = TMETER_AXIS_NODE,
            .aggregation = TMETER_AGGREGATE_SUM,
            .convention = "elements of all result tensors of an operator",
            .description = "elements that the operators produce"});
  r.op("*").handle("@name@", elements);
});
