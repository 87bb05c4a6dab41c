// Default rules for whole classes of operators without a specific rule.
//
// Zero by rule: views, copies, look-ups, sizes, creation, random numbers, sorting. Sorting
// compares, but the number of comparisons depends on algorithm and data, not only on the model.
// Nodes of a class without a rule stay unknown.
//
// The plugin of an operator decides its class.
#include <tmeter/cpp/node_class.hpp>

#include "elementwise.hpp"

namespace flops {
namespace {

using tmeter::OpClass;

bool has_tensor_result(const Node& n) {
  for (size_t i = 0; i < n.result_count(); ++i) {
    const auto v = n.result(i);
    if (v.is_tensor() || (v.is_list() && v.size() > 0 && v[0].is_tensor())) return true;
  }
  return false;
}

Cell family_macs(const Node& n, tmeter::Call& call) {
  switch (tmeter::op_class(n, call)) {
    case OpClass::kConvolution:
    case OpClass::kMatmul:
    case OpClass::kAttention:
    case OpClass::kRecurrent:
    case OpClass::kOther:
      return Cell::unsupported();
    default:
      return Cell::zero_by_rule();
  }
}

Cell by_class(const Node& n, OpClass kind) {
  switch (kind) {
    case OpClass::kElementwise:
      return elements(n.result(0));
    case OpClass::kEmbedding:
    case OpClass::kGather:
    case OpClass::kSort:
    case OpClass::kCreation:
    case OpClass::kRandom:
    case OpClass::kCopy:
      return Cell::zero_by_rule();
    default:
      return Cell::unsupported();
  }
}

/// The class of an operator outside of PyTorch and its libraries.
Cell other_of_plugins(const Node& n, OpClass kind, tmeter::Call& call) {
  if (kind == OpClass::kElementwise || kind == OpClass::kActivation) return elements(n.result(0));
  if (!call.read(kMacs, n).known()) return Cell::unsupported();
  call.warn("the work of " + std::string(n.op()) +
            " besides its MACs counts as 0: its plugin does not give other_flops");
  return Cell::zero_by_rule();
}

Cell family_other(const Node& n, tmeter::Call& call) {
  const auto kind = tmeter::op_class(n, call);
  const bool common = tmeter::is_common_op(n.op());
  if (common && kind == OpClass::kOther) return Cell::unsupported();
  if (kind == OpClass::kView || kind == OpClass::kControl || !has_tensor_result(n))
    return Cell::zero_by_rule();
  if (!common) return other_of_plugins(n, kind, call);
  const auto cost = per_element_cost(n, tmeter::base_name(n.op()));
  return cost.is_unknown() ? by_class(n, kind) : cost;
}

}  // namespace

void register_families(tmeter::Registrar& r) {
  r.op("*").handle(kMacs, family_macs).handle(kOther, family_other);
}

}  // namespace flops
