// Elementwise operators that could be one loop: what only the loop itself needs is never in memory,
// and what several of them read is read once.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tmeter/cpp/node_class.hpp>

#include "rules.hpp"

namespace fusion {
namespace {

using advice::Gain;
using advice::Moved;
using plugins::Through;
using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

constexpr std::array<std::string_view, 5> kNotByElement{"cross", "linalg_cross", "kron", "equal",
                                                        "_transform_bias_rescale_qkv"};

bool is_elementwise(const Node& node) {
  if (node.result_count() != 1 || !node.result(0).is_tensor()) return false;
  if (is_pointwise_activation(node)) return true;
  const auto name = tmeter::base_name(node.op());
  return tmeter::op_class(node.op()) == OpClass::kElementwise &&
         !name.starts_with("fake_quantize") &&
         std::find(kNotByElement.begin(), kNotByElement.end(), name) == kNotByElement.end();
}

/// What makes two values the same memory.
const void* memory_of(const Value& v) {
  const auto from = plugins::origin(v, Through::kIdle);
  return from.tensor() ? static_cast<const void*>(from.tensor().canonical().handle())
                       : static_cast<const void*>(from.handle());
}

/// Groups, each by its last node: an operator joins the group that all its users are in.
class Groups {
 public:
  Groups(const Model& model, std::span<const Gain> taken)
      : root_(model.graph.nodes().size(), kNone) {
    std::vector<bool> out(root_.size());
    for (const auto& gain : taken)
      for (const auto& node : gain.nodes) out[node.index()] = true;
    const auto nodes = model.graph.nodes();
    for (size_t i = nodes.size(); i-- > 0;) {
      const auto node = nodes[i];
      if (out[i] || !is_elementwise(node)) continue;
      const auto joined = group_of_users(node, model.uses);
      root_[i] = joined == kNone ? i : joined;
      members_[root_[i]].push_back(node);
    }
    for (auto& [root, members] : members_) std::reverse(members.begin(), members.end());
  }
  const std::map<size_t, std::vector<Node>>& members() const { return members_; }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  size_t group_of_users(const Node& node, const plugins::Uses& uses) const {
    size_t group = kNone;
    for (const auto& user : uses.all(node.result(0))) {
      const auto its = root_[user.index()];
      const bool as_large = its != kNone && plugins::numbers_of(user.result(0).shape()) ==
                                                plugins::numbers_of(node.result(0).shape());
      if (!as_large || (group != kNone && group != its)) return kNone;
      group = its;
    }
    return group;
  }

  std::vector<size_t> root_;                     // by node
  std::map<size_t, std::vector<Node>> members_;  // by the last node
};

/// What one loop for all of them would move: each input once, the last result.
Moved moved_by_one(const std::vector<Node>& nodes, const Moved& last) {
  std::set<const void*> known;
  for (const auto& node : nodes) known.insert(memory_of(node.result(0)));
  Moved out{0, last.written};
  for (const auto& node : nodes)
    plugins::for_each_input(node, [&](const Value& v) {
      if (known.insert(memory_of(v)).second) out.read += plugins::bytes_of(v);
    });
  return out;
}

std::optional<Moved> saved_by(const std::vector<Node>& nodes, const advice::Ledger& ledger) {
  Moved saved;
  std::optional<Moved> last;
  for (const auto& node : nodes) {
    last = ledger.moved_by(node);
    if (!last) return std::nullopt;
    saved += *last;
  }
  const auto one = moved_by_one(nodes, *last);
  return Moved{std::max(saved.read - one.read, 0.0), std::max(saved.written - one.written, 0.0)};
}

/// Chains of a hundred operators are told by their ends.
std::string ends_of(const std::vector<Node>& nodes) {
  constexpr size_t kMost = 6;
  if (nodes.size() <= kMost) return advice::kind_of(nodes);
  const auto ends = std::to_string(nodes.size()) + " from " +
                    std::string(tmeter::base_name(nodes.front().op())) + " to " +
                    std::string(tmeter::base_name(nodes.back().op()));
  const auto all = advice::kind_of(nodes);
  const auto in = all.rfind(" in ");
  return in == std::string::npos ? ends : ends + all.substr(in);
}

}  // namespace

std::vector<Gain> chains(std::span<const Gain> taken, Model& model) {
  std::vector<Gain> out;
  const Groups groups(model, taken);
  for (const auto& [root, nodes] : groups.members()) {
    if (nodes.size() < 2) continue;
    const auto saved = saved_by(nodes, model.ledger);
    if (!saved || saved->all() == 0) continue;
    auto gain = model.ledger.merged(nodes, *saved, OpClass::kElementwise);
    if (!gain) continue;
    gain->kind = ends_of(nodes);
    out.push_back(std::move(*gain));
  }
  return out;
}

}  // namespace fusion
