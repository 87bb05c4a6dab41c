// A third-party plugin for acme::gated_mlp with a backward rule. RULE selects how the rule behaves
// (the table below; empty: as it should). -DID="com.acme.b" -DRULE_ALONE compiles another plugin,
// without MACs.
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <tmeter/cpp/backward_rule.hpp>

#ifndef ID
#define ID "com.acme.backward"
#endif

namespace {

using tmeter::BackwardCall;
using tmeter::Count;

/// x: [..., d], w_in: [2 h, d], w_out: [d, h].
Count macs(const tmeter::Node& n) {
  const auto rows = n.input("x").numel() / n.input("x").shape().back();
  return rows * (n.input("w_in").numel() + n.input("w_out").numel());
}

/// Each product has the gradients of its weight and of its input; x and the hidden rows are kept.
void rule(BackwardCall& b) {
  const auto rows = b.node().input("x").numel() / b.node().input("x").shape().back();
  b.add_macs(macs(b.node()) * 2);
  b.keep("x");
  b.keep_bytes(rows * b.node().input("w_in").shape()[0] * 4);
}

const std::map<std::string, tmeter::BackwardFunction>& rules() {
  static const std::map<std::string, tmeter::BackwardFunction> table{
      {"", rule},
      {"result", [](BackwardCall& b) { b.keep_result(); }},
      {"declines", [](BackwardCall&) { throw tmeter::Error(TMETER_UNSUPPORTED, "not this one"); }},
      {"negative", [](BackwardCall& b) { b.add_macs(-1); }},
      {"negative bytes", [](BackwardCall& b) { b.keep_bytes(-1); }},
      {"absent result", [](BackwardCall& b) { b.keep_result(5); }},
      {"throws", [](BackwardCall&) { throw std::runtime_error("no gradient for this"); }},
      {"huge", [](BackwardCall& b) { b.keep_bytes(INT64_MAX); }},
      {"emits",
       [](BackwardCall& b) { b.call().emit("saved_bytes", TMETER_AXIS_NODE, 0, Count(1)); }},
  };
  return table;
}

}  // namespace

TMETER_PLUGIN(ID, "1.0.0", [](tmeter::Registrar& r) {
  const char* chosen = std::getenv("RULE");
#ifndef RULE_ALONE
  r.op("acme::gated_mlp").handle("macs", [](const tmeter::Node& n) { return macs(n); });
#endif
  tmeter::backward_rule(r, "acme::gated_mlp", rules().at(chosen ? chosen : ""));
})
