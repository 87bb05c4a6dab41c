// Third-party module handlers, defined by the environment variable ENV: rules separated by ";",
// each "TYPE METRIC WHAT [+PRIORITY] [FOLLOWED…]". ID, ENV and METRICS (own metrics, of operators)
// are set at compile time.
//
//   WHAT   7               that value
//          partial:7       at least that value
//          zero, unavailable, none, decline
//          half            half of the cost of the operators inside
//          nodes, inputs, outputs, elements   their number in the call; elements of its first input
//          other:METRIC    the value of that metric for the call
//          node:METRIC     its value for the first operator inside
//          raw:KIND        a number of that kind, without the wrapper
//          at:PATH         7, of that module alone
// Its own metrics: 1 for each operator, or with "op METRIC other:METRIC2" the operator's METRIC2,
// and with "op METRIC total:METRIC2" the model's METRIC2.
#include <cstdlib>
#include <deque>
#include <sstream>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace {

using tmeter::Call;
using tmeter::Cell;
using tmeter::Count;
using tmeter::ModuleCall;

struct Rule {
  std::string type, metric, what, argument, follows;
  int32_t priority = 0;
};

/// Registered texts must live forever.
std::deque<Rule>& rules() {
  static std::deque<Rule> all = [] {
    std::deque<Rule> out;
    std::istringstream text(std::getenv(ENV) ? std::getenv(ENV) : "");
    for (std::string line; std::getline(text, line, ';');) {
      Rule rule;
      std::istringstream words(line);
      words >> rule.type >> rule.metric >> rule.what;
      if (const auto colon = rule.what.find(':'); colon != std::string::npos) {
        rule.argument = rule.what.substr(colon + 1);
        rule.what.resize(colon);
      }
      for (std::string word; words >> word;) {
        if (word[0] == '+')
          rule.priority = std::stoi(word);
        else
          rule.follows += (rule.follows.empty() ? "" : " ") + word;
      }
      out.push_back(rule);
    }
    return out;
  }();
  return all;
}

Cell half_of_inside(const Rule& rule, const ModuleCall& m, Call& call) {
  Count all = 0;
  for (const auto& node : m.nodes()) all += call.read(rule.metric, node).count();
  return all / 2;
}

Cell answer(const Rule& rule, const ModuleCall& m, Call& call) {
  const auto size = [](size_t n) { return Cell(Count(static_cast<int64_t>(n))); };
  if (rule.what == "partial") return Cell(Count(std::stoll(rule.argument))).as_partial();
  if (rule.what == "zero") return Cell::zero_by_rule();
  if (rule.what == "unavailable") return Cell::unavailable();
  if (rule.what == "none") return {};
  if (rule.what == "decline") return Cell::unsupported();
  if (rule.what == "half") return half_of_inside(rule, m, call);
  if (rule.what == "nodes") return size(m.nodes().size());
  if (rule.what == "inputs") return size(m.inputs().size());
  if (rule.what == "outputs") return size(m.outputs().size());
  if (rule.what == "elements") return m.inputs()[0].numel();
  if (rule.what == "other") return call.read(rule.argument, m);
  if (rule.what == "node") return call.read(rule.argument, m.nodes()[0]);
  if (rule.what == "at")
    return m.module().path() == rule.argument ? Cell(Count(7)) : Cell::unsupported();
  if (rule.what == "raw") {
    const tmeter_number raw{std::stoi(rule.argument), 0, 7, 7};
    tmeter::check(tmeter::detail::results_api().emit(call.handle(), raw));
    return Cell::unsupported();
  }
  return Count(std::stoll(rule.what));
}

Cell of_operator(std::string_view metric, const tmeter::Node& node, Call& call) {
  for (const auto& rule : rules()) {
    if (rule.type != "op" || rule.metric != metric) continue;
    if (rule.what == "total") return call.read(rule.argument, TMETER_AXIS_MODEL, 0);
    const auto cell = call.read(rule.argument, node);
    return rule.what == "raw" && cell.in_module() ? Cell(tmeter_number{7, 0, 0, 0}) : cell;
  }
  return Count(1);
}

void set_up(tmeter::Registrar& r) {
  static const std::string metrics = METRICS;
  r.handlers_by_signature();
  for (size_t from = 0; from < metrics.size();) {
    const auto to = std::min(metrics.find(' ', from), metrics.size());
    const auto id = std::string_view(metrics).substr(from, to - from);
    r.metric({.id = id, .title = id, .unit_kind = TMETER_UNIT_OTHER, .convention = "as told"});
    r.op("*").handle(id, [id](const tmeter::Node& n, Call& c) { return of_operator(id, n, c); });
    from = to + 1;
  }
  for (const auto& rule : rules()) {
    if (rule.type == "op") continue;
    const auto f = [&rule](const tmeter::Graph& graph, const ModuleCall& m, Call& call) {
      if (graph.handle() != call.graph().handle())
        throw tmeter::Error("a call leads to another graph");
      return answer(rule, m, call);
    };
    r.module_type(rule.type, rule.metric, f, rule.priority, rule.follows);
  }
}

}  // namespace

TMETER_PLUGIN(ID, "1.0.0", [](tmeter::Registrar& r) { set_up(r); })
