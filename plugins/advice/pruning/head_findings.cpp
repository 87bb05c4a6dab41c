#include "head_findings.hpp"

#include <algorithm>
#include <map>
#include "plugins/common/wording.hpp"

#include "heads.hpp"

namespace pruning {
namespace {

using plugins::count_of;
using plugins::listed;
using plugins::percent;

constexpr double kWeakShare = 0.5;  // of the norm of the layer's median head

struct Attention {
  const Weight *query = nullptr, *output = nullptr;
};

std::optional<int64_t> attribute(const tmeter::Module& m, std::string_view name) {
  for (size_t i = 0; i < m.attribute_count(); ++i)
    if (m.attribute_name(i) == name && m.attribute(i).kind() == TMETER_VALUE_INT)
      return m.attribute(i).as_int();
  return std::nullopt;
}

/// From an attribute of the module around the projection, or from the norm of its queries.
int64_t head_size_of(const Weight& query) {
  const auto projection = query.tensor.owner();
  const auto around = projection ? projection.parent() : tmeter::Module();
  if (!around) return 0;
  if (const auto size = attribute(around, "head_dim")) return *size;
  for (const auto* name : {"num_heads", "num_attention_heads", "n_heads"})
    if (const auto heads = attribute(around, name); heads && *heads > 0)
      return query.filters() / *heads;
  for (size_t i = 0; i < around.child_count(); ++i) {
    const auto child = around.child(i);
    if (child.name() == "q_norm" && child.tensor_count() > 0) return child.tensor(0).shape().back();
  }
  return 0;
}

}  // namespace

void report_heads(const Collection& seen, int64_t given, tmeter::Call& call) {
  std::map<std::string, Attention> layers;
  for (const auto& w : seen.weights) {
    char part = 0;
    const auto layer = attention_of(w.name, part);
    if (part == 'q') layers[layer].query = &w;
    if (part == 'o') layers[layer].output = &w;
  }
  tmeter::Finding f;
  std::vector<std::string> weak;
  size_t heads = 0;
  for (const auto& [name, layer] : layers) {
    if (!layer.query || !layer.output) continue;
    const auto size = given ? given : head_size_of(*layer.query);
    const auto norms = head_norms(layer.query->filter_norms, layer.output->input_norms, size);
    if (norms.size() < 2) continue;
    heads += norms.size();
    auto sorted = norms;
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted[sorted.size() / 2];
    for (size_t h = 0; h < norms.size(); ++h) {
      if (!(norms[h] < kWeakShare * median)) continue;
      weak.push_back(name + " head " + std::to_string(h) + " (" + percent(norms[h] / median) + ")");
      f.about(layer.output->tensor);
    }
  }
  if (weak.empty()) return;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "weak-heads";
  f.text = std::to_string(weak.size()) + " of " + count_of(heads, "attention head") +
           " have less than half the norm of their layer's median head";
  f.evidence = listed(weak.size(), 8, [&](size_t i) { return weak[i]; }) +
               ": L2 norm of query rows and output columns";
  f.action =
      "mask them one by one and measure (head_mask, or zero the columns of the output projection), "
      "then build the layer with fewer heads";
  call.add(f);
}

}  // namespace pruning
