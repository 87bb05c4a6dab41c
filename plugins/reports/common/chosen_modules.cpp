#include "chosen_modules.hpp"

namespace reports {

std::vector<bool> chosen_modules(const tmeter::Report& report) {
  const auto graph = report.graph();
  const bool all = report.view("only") != "trainable";
  std::vector<bool> chosen(graph.modules().size(), all);
  if (all || chosen.empty()) return chosen;
  chosen[0] = true;
  for (const auto& t : graph.tensors())
    if (t.trainable() && t.kind() == TMETER_TENSOR_PARAMETER)
      for (auto m = t.owner(); m && !chosen[m.index()]; m = m.parent()) chosen[m.index()] = true;
  return chosen;
}

}  // namespace reports
