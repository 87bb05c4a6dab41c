// Backward rules of in-house operators. Draft, like abi/draft/backward_rule.h.
//
//   tmeter::backward_rule(r, "acme::gated_mlp", [](tmeter::BackwardCall& b) {
//     b.keep("x");
//     b.add_macs(b.wants("x") ? 2 * n : n); });
#pragma once
#include <deque>
#include <functional>
#include <optional>

#include "../abi/draft/backward_rule.h"
#include "plugin.hpp"

TMETER_SDK_BEGIN

/// One call of the operator, for its rule.
class BackwardCall {
 public:
  BackwardCall(const tmeter_node* node, tmeter_backward& out, tmeter_call* call)
      : node_(node), out_(out), call_(call) {}
  Node node() const { return node_; }
  Call call() const { return Call(call_); }
  /// Whether the gradient of the argument is needed. False for a name that the node does not have.
  bool wants(std::string_view argument) const { return (out_.wanted & bit_of(argument)) != 0; }
  void add_macs(Count macs) { out_.macs = (Count(out_.macs) + macs).value(); }
  /// Bytes of masks, statistics and similar data, which are neither argument nor result.
  void keep_bytes(Count bytes) { out_.kept_bytes = (Count(out_.kept_bytes) + bytes).value(); }
  void keep(std::string_view argument) { out_.keeps_arguments |= bit_of(argument); }
  void keep_result(size_t result = 0) { out_.keeps_results |= bit(result); }

 private:
  static uint64_t bit(size_t i) { return i < 64 ? uint64_t{1} << i : 0; }
  uint64_t bit_of(std::string_view argument) const {
    for (size_t i = 0; i < node_.arg_count(); ++i)
      if (node_.arg_name(i) == argument) return bit(i);
    return 0;
  }

  Node node_;
  tmeter_backward& out_;
  tmeter_call* call_;
};

/// Throws Error(TMETER_UNSUPPORTED) for a call that the rule does not cover.
using BackwardFunction = std::function<void(BackwardCall&)>;

namespace detail {

struct BackwardRuleList {
  std::deque<BackwardFunction> functions;
  std::deque<tmeter_backward_rule> items;
  tmeter_backward_rules table{};
  static BackwardRuleList& instance() {
    static BackwardRuleList list;
    return list;
  }
};

inline tmeter_status TMETER_ABI call_backward_rule(tmeter_call* call, const tmeter_node* node,
                                                   tmeter_backward* out, void* user) {
  return guarded(call, [&]() -> tmeter_status {
    BackwardCall b(node, *out, call);
    (*static_cast<const BackwardFunction*>(user))(b);
    return TMETER_OK;
  });
}

}  // namespace detail

/// Registers the rule of an operator, whose name must live for ever.
inline void backward_rule(Registrar& r, std::string_view op, BackwardFunction f) {
  auto& list = detail::BackwardRuleList::instance();
  if (!r.capability(TMETER_CAP_BACKWARD_RULE)) list.items.clear(), list.functions.clear();
  auto& stored = list.functions.emplace_back(std::move(f));
  list.items.push_back(
      {sizeof(tmeter_backward_rule), 0, to_abi(op), &detail::call_backward_rule, &stored});
  list.table = {sizeof(tmeter_backward_rules), static_cast<uint32_t>(list.items.size()),
                [](uint32_t i, void* user) -> const tmeter_backward_rule* {
                  const auto& items = static_cast<detail::BackwardRuleList*>(user)->items;
                  return i < items.size() ? &items[i] : nullptr;
                },
                &list};
  if (list.items.size() == 1) r.offer(TMETER_CAP_BACKWARD_RULE, &list.table);
}

/// The result of another plugin's rule; empty without one, and on hosts without support for
/// rules. `wanted`: bits of arguments.
inline std::optional<tmeter_backward> backward_of(const Call& call, const Node& node,
                                                  uint64_t wanted) {
  const auto* host = detail::host();
  static const auto* api = host ? static_cast<const tmeter_backward_rules_api*>(
                                      host->get_interface(host, to_abi(TMETER_HOST_BACKWARD_RULES)))
                                : nullptr;
  if (!api) return std::nullopt;
  tmeter_backward out{};
  out.struct_size = sizeof out;
  out.wanted = wanted;
  const auto status = api->ask(call.handle(), node.handle(), &out);
  if (status == TMETER_UNSUPPORTED) return std::nullopt;
  check(status);
  return out;
}

TMETER_SDK_END
