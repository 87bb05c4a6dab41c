#include "groups.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace reports {

using tmeter::Metric;
using tmeter::Module;
using tmeter::Report;
using Metrics = std::vector<Metric>;

Sums empty_sums(const Metrics& metrics) {
  Sums sums;
  for (const auto& m : metrics) sums.emplace_back(m.aggregation());
  return sums;
}

std::vector<Cell> cells_of(const Sums& sums) {
  std::vector<Cell> cells;
  for (const auto& sum : sums) cells.push_back(sum.result());
  return cells;
}

Group& Groups::operator[](std::string_view name) {
  auto it = index_.find(name);
  if (it == index_.end()) {
    it = index_.emplace(name, groups_.size()).first;
    groups_.push_back({std::string(name), 0, empty_sums(metrics_)});
  }
  return groups_[it->second];
}

void add_node(const Report& report, const Metrics& metrics, const tmeter::Node& node, Sums& sums) {
  for (size_t c = 0; c < sums.size(); ++c)
    if (metrics[c].axis() == TMETER_AXIS_NODE) sums[c].add(report.cell(metrics[c], node));
}

void for_each_value_by_module(
    const Report& report, const Metrics& metrics,
    const std::function<void(const tmeter::ModuleCall&, const Sums&)>& visit) {
  for (const auto& call : report.graph().module_calls()) {
    bool any = false;
    Sums given = empty_sums(metrics);
    for (size_t c = 0; c < metrics.size(); ++c) {
      const auto cell = report.cell(metrics[c], TMETER_AXIS_MODULE_CALL, call.index());
      if (metrics[c].axis() != TMETER_AXIS_NODE || !cell.by_module()) continue;
      given[c].add(cell);
      any = true;
    }
    if (any) visit(call, given);
  }
}

std::vector<Sums> own_sums(const Report& report, const Metrics& metrics) {
  const auto graph = report.graph();
  std::vector<Sums> own(graph.modules().size(), empty_sums(metrics));
  const auto add = [&](int32_t axis, const Module& m, auto&& cell_of) {
    if (!m) return;
    for (size_t c = 0; c < metrics.size(); ++c)
      if (metrics[c].axis() == axis) own[m.index()][c].add(cell_of(metrics[c]));
  };
  for (const auto& node : graph.nodes())
    add(TMETER_AXIS_NODE, node.call() ? node.call().module() : graph.root(),
        [&](const Metric& m) { return report.cell(m, node); });
  for (const auto& tensor : graph.tensors())
    if (!tensor.is_tied())
      add(TMETER_AXIS_TENSOR, tensor.owner() ? tensor.owner() : graph.root(),
          [&](const Metric& m) { return report.cell(m, tensor); });
  for (const auto& call : graph.module_calls())
    add(TMETER_AXIS_MODULE_CALL, call.module(),
        [&](const Metric& m) { return report.cell(m, TMETER_AXIS_MODULE_CALL, call.index()); });
  for_each_value_by_module(report, metrics, [&](const tmeter::ModuleCall& call, const Sums& given) {
    for (size_t c = 0; c < metrics.size(); ++c)
      own[call.module().index()][c].add(given[c].result());
  });
  return own;
}

Groups by_operator(const Report& report, const Metrics& metrics) {
  Groups groups(metrics);
  for (const auto& node : report.graph().nodes()) {
    auto& group = groups[node.op()];
    ++group.count;
    add_node(report, metrics, node, group.sums);
  }
  for_each_value_by_module(report, metrics, [&](const tmeter::ModuleCall& call, const Sums& given) {
    auto& group = groups[call.module().qualified_type()];
    ++group.count;
    for (size_t c = 0; c < metrics.size(); ++c) group.sums[c].add(given[c].result());
  });
  return groups;
}

Groups by_type(const Report& report, const Metrics& metrics) {
  Groups groups(metrics);
  const auto own = own_sums(report, metrics);
  for (const auto& m : report.graph().modules()) {
    auto& group = groups[m.qualified_type()];
    ++group.count;
    for (size_t c = 0; c < metrics.size(); ++c) group.sums[c].add(own[m.index()][c].result());
  }
  return groups;
}

namespace {

struct Rule {
  std::string_view part;  // of the class name in lower case; the first matching rule applies
  std::string_view family;
  bool with_children = false;  // applies to modules with children, too
};

constexpr std::array kRules{
    Rule{"attention", "Attention", true},
    Rule{"attn", "Attention", true},
    Rule{"rnn", "Recurrent", true},
    Rule{"lstm", "Recurrent", true},
    Rule{"gru", "Recurrent", true},
    Rule{"norm", "Normalization"},
    Rule{"pool", "Pooling"},
    Rule{"embed", "Embedding"},
    Rule{"conv", "Convolution"},
    Rule{"linear", "Linear"},
    Rule{"dense", "Linear"},
    Rule{"activation", "Activation"},
    Rule{"softmax", "Activation"},
    Rule{"softmin", "Activation"},
    Rule{"softplus", "Activation"},
    Rule{"softsign", "Activation"},
    Rule{"sigmoid", "Activation"},
    Rule{"tanh", "Activation"},
    Rule{"elu", "Activation"},  // ReLU, GELU, SELU, PReLU, …
    Rule{"glu", "Activation"},
    Rule{"silu", "Activation"},
    Rule{"swish", "Activation"},
    Rule{"mish", "Activation"},
    Rule{"shrink", "Activation"},
    Rule{"threshold", "Activation"},
};

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

}  // namespace

std::string_view family_of(const tmeter::Module& module) {
  if (module.type() == "Conv1D") return "Linear";  // of transformers' GPT-2: a transposed Linear
  const auto name = lower_case(module.type());
  const bool has_children = module.child_count() > 0;
  for (const auto& rule : kRules)
    if ((rule.with_children || !has_children) && name.find(rule.part) != name.npos)
      return rule.family;
  return kOtherFamily;
}

bool is_layer(const tmeter::Module& module) {
  return module.child_count() == 0 || family_of(module) != kOtherFamily;
}

Groups by_family(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics) {
  Groups groups(metrics);
  const auto own = own_sums(report, metrics);
  for (const auto& m : report.graph().modules()) {
    auto& group = groups[family_of(m)];
    group.count += is_layer(m);
    for (size_t c = 0; c < metrics.size(); ++c) group.sums[c].add(own[m.index()][c].result());
  }
  return groups;
}

}  // namespace reports
