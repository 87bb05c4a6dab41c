#include "families.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace reports {
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
