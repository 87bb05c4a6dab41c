// Chains of elementwise operators, which one loop can compute: intermediate values stay in
// registers, and a value that several of them read is read once.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tmeter/cpp/node_class.hpp>

#include "rules.hpp"

namespace fusion {
namespace {

using advice::Saving;
using advice::Traffic;
using plugins::SkippedOps;
using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

constexpr std::array<std::string_view, 5> kNotElementwise{"cross", "linalg_cross", "kron", "equal",
                                                          "_transform_bias_rescale_qkv"};

bool is_elementwise(const Node& node) {
  if (node.result_count() != 1 || !node.result(0).is_tensor()) return false;
  if (is_pointwise_activation(node)) return true;
  const auto name = tmeter::base_name(node.op());
  return tmeter::op_class(node.op()) == OpClass::kElementwise &&
         !name.starts_with("fake_quantize") &&
         std::find(kNotElementwise.begin(), kNotElementwise.end(), name) == kNotElementwise.end();
}

/// Identifies the memory of a value.
const void* memory_of(const Value& v) {
  const auto from = plugins::origin(v, SkippedOps::kIdentity);
  return from.tensor() ? static_cast<const void*>(from.tensor().canonical().handle())
                       : static_cast<const void*>(from.handle());
}

/// Groups of operators: an operator joins the group that contains all its users.
class Groups {
 public:
  Groups(const Model& model, std::span<const Saving> taken)
      : root_(model.graph.nodes().size(), kNone) {
    std::vector<bool> out(root_.size());
    for (const auto& saving : taken)
      for (const auto& node : saving.nodes) out[node.index()] = true;
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
      const bool as_large = its != kNone && plugins::element_count(user.result(0).shape()) ==
                                                plugins::element_count(node.result(0).shape());
      if (!as_large || (group != kNone && group != its)) return kNone;
      group = its;
    }
    return group;
  }

  std::vector<size_t> root_;                     // key: node
  std::map<size_t, std::vector<Node>> members_;  // key: last node
};

/// The traffic of one loop over a chain: each input once, and the last result.
Traffic traffic_of_loop(const std::vector<Node>& nodes, const Traffic& last) {
  std::set<const void*> read_memories;
  for (const auto& node : nodes) read_memories.insert(memory_of(node.result(0)));
  Traffic out{0, last.written};
  for (const auto& node : nodes)
    plugins::for_each_input(node, [&](const Value& v) {
      if (read_memories.insert(memory_of(v)).second) out.read += plugins::bytes_of(v);
    });
  return out;
}

std::optional<Traffic> saved_by(const std::vector<Node>& nodes,
                                const advice::SavingsEstimator& estimator) {
  Traffic saved;
  std::optional<Traffic> last;
  for (const auto& node : nodes) {
    last = estimator.traffic_of(node);
    if (!last) return std::nullopt;
    saved += *last;
  }
  const auto one = traffic_of_loop(nodes, *last);
  return Traffic{std::max(saved.read - one.read, 0.0), std::max(saved.written - one.written, 0.0)};
}

/// Names a chain; a long one by its first and last operator.
std::string describe_chain(const std::vector<Node>& nodes) {
  constexpr size_t kMaxNamed = 6;
  if (nodes.size() <= kMaxNamed) return advice::kind_of(nodes);
  const auto ends = std::to_string(nodes.size()) + " from " +
                    std::string(tmeter::base_name(nodes.front().op())) + " to " +
                    std::string(tmeter::base_name(nodes.back().op()));
  const auto all = advice::kind_of(nodes);
  const auto in = all.rfind(" in ");
  return in == std::string::npos ? ends : ends + all.substr(in);
}

}  // namespace

std::vector<Saving> chains(std::span<const Saving> taken, Model& model) {
  std::vector<Saving> out;
  const Groups groups(model, taken);
  for (const auto& [root, nodes] : groups.members()) {
    if (nodes.size() < 2) continue;
    const auto saved = saved_by(nodes, model.estimator);
    if (!saved || saved->all() == 0) continue;
    auto saving = model.estimator.merged(nodes, *saved, OpClass::kElementwise);
    if (!saving) continue;
    saving->kind = describe_chain(nodes);
    out.push_back(std::move(*saving));
  }
  return out;
}

}  // namespace fusion
