#include "core/module_description/module_description.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/module_description/module_io.hpp"
#include "core/module_description/module_text.hpp"

namespace tmeter::core {
namespace {

std::string size_text(const Value* tensor) {
  return tensor ? shape_text(tensor->dims) : std::string();
}

}  // namespace

Structure::Structure(const Graph& graph) {
  auto texts = module_texts(graph);
  repeats = find_repeats(graph, texts.whole);
  facts[0] = std::move(texts.whole);
  facts[1] = std::move(texts.kernel_size);
  for (const size_t fact : {2, 3}) facts[fact].reserve(graph.modules().size());
  for (const auto& io : module_io(graph)) {
    facts[2].push_back(size_text(io.input));
    facts[3].push_back(size_text(io.output));
  }
}

const std::string& Structure::fact(std::string_view key, size_t module) const {
  static const std::string none;
  const auto at = std::find(kModuleFacts.begin(), kModuleFacts.end(), key);
  if (at == kModuleFacts.end()) return none;
  const auto& column = facts[static_cast<size_t>(at - kModuleFacts.begin())];
  return module < column.size() ? column[module] : none;
}

}  // namespace tmeter::core
