#include "plugins/common/decoder/cost.hpp"

#include <algorithm>

namespace plugins {
namespace {

using tmeter::Count;
using tmeter::Node;

/// Number of tokens that the operator works on: all; one per sequence (a head that reads only the
/// last position); or one per position for the whole batch (position tables).
std::optional<Count> tokens_of(const Node& n, const Decoder& d) {
  const auto shape = n.result(0).shape();
  if (shape.empty()) return std::nullopt;
  const auto rows = shape.product(0, shape.rank() - 1);
  const auto divides = [](Count by, Count what) { return what / by * by == what; };
  if (rows > Count(0) && divides(d.tokens(), rows)) return d.tokens();
  if (std::find(shape.begin(), shape.end(), d.length) != shape.end()) return Count(d.length);
  if (rows == Count(d.batch)) return Count(d.batch);
  return std::nullopt;
}

}  // namespace

Cost cost_of(const tmeter::Graph& graph, const Decoder& d, tmeter::Call& call) {
  Cost cost;
  for (const auto& s : d.states) cost.is_token_complete &= s.recurrent == 0;
  for (const auto& n : graph.nodes()) {
    const auto macs = call.read("macs", n);
    if (!macs.known()) cost.is_complete = false;
    if (macs.count() == Count(0)) continue;
    cost.all += macs.count();
    if (runs_once(n) || !cost.is_token_complete) continue;
    const auto attention =
        std::find_if(d.attentions.begin(), d.attentions.end(),
                     [&n](const Attention& a) { return a.node.handle() == n.handle(); });
    const bool is_attention = attention != d.attentions.end();
    // A single query is multiplied by every key once; all queries together, tokens() times.
    const auto tokens = is_attention ? std::optional(d.tokens()) : tokens_of(n, d);
    if (!tokens) {
      cost.is_complete = false;
      continue;
    }
    const auto of_token = macs.count() / *tokens;
    const bool grows = is_attention && !attention->is_cross();
    cost.token += of_token;
    if (grows) cost.token_attention += of_token;
    cost.operators.push_back({n, of_token, grows});
  }
  return cost;
}

}  // namespace plugins
