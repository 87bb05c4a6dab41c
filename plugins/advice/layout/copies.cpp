// Copies into another memory order: contiguous() of a tensor that is not contiguous, and reshape()
// that cannot be a view.
#include <algorithm>

#include "plugins/common/strides.hpp"
#include "plugins/common/wording.hpp"
#include "rules.hpp"

namespace layout {
namespace {

using advice::Saving;
using tmeter::Node;

bool is_copying_contiguous(const Node& node, const plugins::Layouts& layouts) {
  if (tmeter::base_name(node.op()) != "contiguous") return false;
  const auto* from = layouts.of(node.arg("self"));
  return from && !plugins::is_contiguous(*from) &&
         !plugins::is_channels_last(node.arg("memory_format"));
}

/// The operator that permuted the dims before the copy: "permute", "transpose".
std::string_view permutation_before(const Node& copy) {
  auto from = copy.arg(size_t{0});
  for (int steps = 0; steps < 64; ++steps) {
    const auto maker = from.producer();
    if (!maker || maker.arg_count() == 0) break;
    const auto name = tmeter::base_name(maker.op());
    if (name == "permute" || name == "transpose" || name == "t" || name == "expand") return name;
    from = maker.arg(size_t{0});
  }
  return {};
}

std::string kind_of_copy(const Node& copy) {
  const auto mover = permutation_before(copy);
  const Node nodes[]{copy};
  return (mover.empty() ? "" : std::string(mover) + " → ") + advice::kind_of(nodes);
}

void emit_bytes(const std::vector<Saving>& copies, Model& model) {
  std::vector<tmeter::Cell> cells(model.graph.nodes().size(), tmeter::Cell::zero_by_rule());
  for (const auto& copy : copies)
    cells[copy.nodes.front().index()] = advice::count_cell(copy.saved.all());
  for (size_t i = 0; i < cells.size(); ++i)
    model.call.emit(kReordered, TMETER_AXIS_NODE, i, cells[i]);
}

}  // namespace

void report_copies(Model& model) {
  const plugins::Layouts layouts(model.graph);
  std::vector<Saving> counted, all;
  for (const auto& node : model.graph.nodes()) {
    if (!is_copying_contiguous(node, layouts)) continue;
    auto saving = model.estimator.removed({node});
    if (!saving) continue;
    saving->kind = kind_of_copy(node);
    counted.push_back(std::move(*saving));
  }
  all = counted;
  double hidden = 0;
  for (const auto& node : layouts.copying_reshapes()) {
    const auto bytes = plugins::bytes_of(node.result(0));
    hidden += 2 * bytes;
    all.push_back({{node}, {bytes, bytes}, std::nullopt, kind_of_copy(node)});
  }
  emit_bytes(all, model);
  double bytes = 0;
  for (const auto& saving : all) bytes += saving.saved.all();
  const double traffic = model.estimator.traffic().all() + hidden;
  if (bytes == 0 || bytes < model.min_share * traffic) return;
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "layout-copies";
  f.text = plugins::count_of(all.size(), "tensor") + (all.size() == 1 ? " is" : " are") +
           " copied into another memory order: " + advice::bytes_text(bytes) + " of traffic, " +
           plugins::percent(bytes / traffic) + " of the model's";
  f.evidence = advice::kinds_text(all);
  if (hidden > 0)
    f.evidence += "; " + advice::bytes_text(hidden) +
                  " of it by reshape, which read_bytes and written_bytes count as a view";
  f.evidence += model.estimator.measured_text(all);
  f.action =
      "matmul and scaled_dot_product_attention take any strides: remove contiguous() before them; "
      "elsewhere create the tensor in the order in which it is used";
  model.estimator.complete(f, counted);
  for (const auto& node : layouts.copying_reshapes()) f.about(node);
  model.call.add(f);
}

}  // namespace layout
