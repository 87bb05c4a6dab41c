#include "core/plugin_host/operator_rules.hpp"

#include <tmeter/abi/draft/backward_rule.h>

#include <algorithm>
#include <memory>
#include <tmeter/cpp/schema.hpp>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/guarded_results.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {

// --- schemas in manifests ------------------------------------------------------------------------

namespace {

bool can_be_called(const Plugin& p) { return !p.library.empty() && p.failure.empty(); }

/// `are_compatible(one, other)`: whether two plugins may have these schemas.
template <class Compatible>
FoundRule find_exactly(const Registry& registry, std::string_view op, Compatible are_compatible) {
  FoundRule found;
  for (const auto& plugin : registry.plugins()) {
    if (!can_be_called(*plugin)) continue;
    const auto& schemas = plugin->manifest.shape_rules;
    const auto schema = std::find_if(schemas.begin(), schemas.end(),
                                     [&](const auto& s) { return op_of_schema(s) == op; });
    if (schema == schemas.end()) continue;
    if (found.plugin && !are_compatible(*found.schema, *schema)) {
      const auto ids = std::minmax(found.plugin->manifest.id, plugin->manifest.id);
      throw Error(ErrorKind::kUsage, "plugins " + ids.first + " and " + ids.second +
                                         " both have a shape rule for '" + printable(op) +
                                         "'; leave one out with --plugins=-" + ids.second);
    }
    if (!found.plugin) found = {plugin.get(), &*schema};
  }
  return found;
}

template <class Compatible>
FoundRule find(const Registry& registry, std::string_view op, Compatible are_compatible) {
  const auto found = find_exactly(registry, op, are_compatible);
  const auto base = op.substr(0, op.find('.'));
  return found.plugin || base == op ? found : find_exactly(registry, base, are_compatible);
}

}  // namespace

FoundRule find_shape_rule(const Registry& registry, std::string_view op) {
  return find(registry, op, [](const auto&, const auto&) { return false; });
}

const std::string* RuleSchemas::of(const Registry& registry, std::string_view op) {
  auto at = schemas_.find(op);
  if (at == schemas_.end()) {
    const auto found = find(registry, op, std::equal_to<std::string>());
    at = schemas_.emplace(std::string(op), found.schema).first;
  }
  return at->second;
}

namespace {

/// During its lifetime, the rule's plugin uses the caller's run, except its results. A crash inside
/// is not blamed on the engine that runs the file.
class BorrowedRun {
 public:
  BorrowedRun(tmeter_call& to, const tmeter_call& by)
      : to_(to), before_(std::exchange(to.run, by.run)), engine_(activity().engine) {
    to_.run.results = nullptr;
    activity().engine.clear();
  }
  ~BorrowedRun() {
    to_.run = before_;
    activity().engine = engine_;
  }
  BorrowedRun(const BorrowedRun&) = delete;
  BorrowedRun& operator=(const BorrowedRun&) = delete;

 private:
  tmeter_call& to_;
  RunContext before_;
  decltype(Activity::engine) engine_;
};

// --- shapes: tmeter.host.shape-rules/1 -----------------------------------------------------------

FoundRule rule_for(const tmeter_call& call, std::string_view op) {
  return call.registry ? find_shape_rule(*call.registry, op) : FoundRule{};
}

const tmeter_shape_rule* rule_of(const Plugin& plugin, std::string_view schema) {
  const auto& rules = plugin.offers().shape_rules;
  const auto it = std::find_if(rules.begin(), rules.end(),
                               [&](const auto& r) { return view(r.schema) == schema; });
  return it == rules.end() ? nullptr : &*it;
}

/// The running rules. A rule may call others, but not itself. Rules are [serial].
class RuleScope {
 public:
  explicit RuleScope(const FoundRule& found) {
    if (std::find(rules().begin(), rules().end(), found.schema) != rules().end())
      throw PluginError(found.plugin->manifest.id, "while giving the shape of " + *found.schema,
                        "its shape rule calls itself");
    rules().push_back(found.schema);
  }
  ~RuleScope() { rules().pop_back(); }
  RuleScope(const RuleScope&) = delete;
  RuleScope& operator=(const RuleScope&) = delete;

 private:
  static std::vector<const std::string*>& rules() {
    static std::vector<const std::string*> active_rules;
    return active_rules;
  }
};

/// While a rule builds, the builder reports errors in the rule's call.
class RuleBuilderScope {
 public:
  RuleBuilderScope(tmeter_builder& builder, tmeter_call& call)
      : builder_(builder), before_(std::exchange(builder.call, &call)) {}
  ~RuleBuilderScope() { builder_.call = before_; }
  RuleBuilderScope(const RuleBuilderScope&) = delete;
  RuleBuilderScope& operator=(const RuleBuilderScope&) = delete;

 private:
  tmeter_builder& builder_;
  tmeter_call* before_;
};

/// The arguments must fit the rule's schema, because a rule in C relies on it without checks.
void require_fit(const Schema& schema, const std::string& text, size_t args, size_t results) {
  const auto rule = "the shape rule '" + printable(text) + "', whose schema has ";
  if (args > schema.arguments.size())
    throw Error(ErrorKind::kPlugin, "it gives " + std::to_string(args) + " arguments to " + rule +
                                        std::to_string(schema.arguments.size()));
  if (results != schema.results.size())
    throw Error(ErrorKind::kPlugin, "it wants " + std::to_string(results) + " results of " + rule +
                                        std::to_string(schema.results.size()));
}

void infer_with(const FoundRule& found, const std::string& op, tmeter_builder& builder,
                const std::vector<const tmeter_value*>& args, std::span<tmeter_id> results,
                const tmeter_call& by) {
  auto& plugin = *found.plugin;
  const RuleScope active_rules(found);
  by.registry->open(plugin);
  const BorrowedRun lent(plugin.call, by);
  const auto doing = "while giving the shape of " + op;
  const auto fail = [&](const std::string& why) {
    throw PluginError(plugin.manifest.id, doing, why);
  };
  const auto* rule = rule_of(plugin, *found.schema);
  if (!rule) fail("it offered a rule before and has none now");
  const RuleBuilderScope building(builder, plugin.call);
  const GuardedResults room(results.size());
  const auto status = invoke(plugin.call, doing, [&](auto* call) {
    return rule->infer(call, args.data(), args.size(), &builder, room.ids().data(), results.size(),
                       rule->user);
  });
  if (!room.intact())
    fail("its shape rule writes beyond the array for its " + std::to_string(results.size()) +
         " results");
  std::ranges::copy(room.ids(), results.begin());
  const auto given = std::count_if(results.begin(), results.end(),
                                   [&](tmeter_id id) { return builder.builder.peek(id); });
  if (status != TMETER_OK) fail("its shape rule gives no result");
  if (static_cast<size_t>(given) != results.size())
    fail("its shape rule gives " + std::to_string(given) + " of " + std::to_string(results.size()) +
         " results");
}

tmeter_status find_rule(tmeter_call* call, tmeter_str op, tmeter_str* schema, tmeter_str* plugin) {
  return guard_callback(call, [&]() -> tmeter_status {
    const auto found = rule_for(*call, view(op));
    if (!found.plugin) return TMETER_UNSUPPORTED;
    *schema = to_abi(*found.schema);
    *plugin = to_abi(found.plugin->manifest.id);
    return TMETER_OK;
  });
}

tmeter_status infer(tmeter_call* call, tmeter_str op, tmeter_builder* builder,
                    const tmeter_id* args, size_t count, tmeter_id* results, size_t result_count,
                    tmeter_str* why) {
  return guard_callback(call, [&]() -> tmeter_status {
    if (!is_live(builder)) throw Error(ErrorKind::kPlugin, kBuilderGivenBack);
    const auto found = rule_for(*call, view(op));
    if (!found.plugin) return TMETER_UNSUPPORTED;
    const Schema schema(*found.schema);
    require_fit(schema, *found.schema, count, result_count);
    std::vector<const tmeter_value*> values(schema.arguments.size());
    for (size_t i = 0; i < count; ++i)
      if (args[i]) values[i] = to_handle(builder->builder.peek(args[i]));
    const std::span given(results, result_count);
    std::fill(given.begin(), given.end(), tmeter_id{0});
    try {
      infer_with(found, str(op), *builder, values, given, *call);
    } catch (const Error& e) {
      std::fill(given.begin(), given.end(), tmeter_id{0});
      if (e.kind() != ErrorKind::kModel && e.kind() != ErrorKind::kRun) throw;
      builder->refusal = e.what();
      *why = to_abi(builder->refusal);
      return TMETER_CANNOT_RUN;
    }
    return TMETER_OK;
  });
}

tmeter_builder* begin_builder(tmeter_call* call) {
  tmeter_builder* begun = nullptr;
  guard_callback(call, [&]() -> tmeter_status {
    const auto builder = std::make_shared<tmeter_builder>();
    builder->call = call;
    builder->of_rule = true;
    call->frame.rule_builders.emplace(builder.get(), builder);
    std::erase(call->frame.ended_builders, builder.get());
    begun = builder.get();
    return TMETER_OK;
  });
  return begun;
}

void report_wrong_builder() noexcept {
  if (current_call)
    current_call->frame.defect =
        std::make_exception_ptr(Error(ErrorKind::kPlugin, kBuilderGivenBack));
}

void end_builder(tmeter_builder* builder) {
  if (!builder) return;
  auto* frame = current_call ? &current_call->frame : nullptr;
  if (!frame || frame->rule_builders.erase(builder) == 0) return report_wrong_builder();
  auto& ended = frame->ended_builders;
  constexpr size_t kMaxEndedBuilders = 64;
  if (ended.size() == kMaxEndedBuilders) ended.erase(ended.begin());
  ended.push_back(builder);
}

const tmeter_value* value_of_builder(const tmeter_builder* builder, tmeter_id id) {
  if (is_live(builder)) return to_handle(builder->builder.peek(id));
  note_ended_builder(builder);
  return nullptr;
}

// --- backward: tmeter.host.backward-rules/0.1 ----------------------------------------------------

struct FoundBackwardRule {
  Plugin* plugin = nullptr;
  const tmeter_backward_rule* rule = nullptr;
};

/// Throws Error(kPlugin) if two plugins have a rule for it.
FoundBackwardRule backward_rule_for(const Registry& registry, std::string_view op) {
  FoundBackwardRule found;
  for (const auto& p : registry.plugins()) {
    for (const auto& rule : p->offers().backward_rules) {
      if (view(rule.op) != op) continue;
      if (found.plugin && found.plugin != p.get())
        throw Error(ErrorKind::kPlugin, "plugins " + found.plugin->manifest.id + " and " +
                                            p->manifest.id + " both have a backward rule for '" +
                                            std::string(op) + "'; leave one out with --plugins=-" +
                                            p->manifest.id);
      found = {p.get(), &rule};
    }
  }
  return found;
}

FoundBackwardRule backward_rule_for(const Registry& registry, const Node& node) {
  const auto exact = backward_rule_for(registry, node.full_name());
  return exact.rule ? exact : backward_rule_for(registry, node.op);
}

bool are_within(uint64_t bits, size_t count) { return count >= 64 || bits >> count == 0; }

tmeter_status call_backward_rule(tmeter_call* c, const tmeter_node* handle, tmeter_backward* out) {
  return guard_callback(c, [&]() -> tmeter_status {
    const auto* called = from_handle(handle);
    if (c->run.graph && !c->run.graph->has(called))
      throw Error(ErrorKind::kPlugin, "it requests a node that the graph does not have");
    const auto& node = *called;
    const auto found = c->registry ? backward_rule_for(*c->registry, node) : FoundBackwardRule{};
    if (!found.rule) return TMETER_UNSUPPORTED;
    auto& plugin = *found.plugin;
    const auto doing = "while giving the backward of " + std::string(node.op);
    tmeter_backward given{};
    given.struct_size = sizeof given;
    given.wanted = out->wanted;
    {
      const BorrowedRun lent(plugin.call, *c);
      const auto status = invoke(plugin.call, doing, [&](auto* call) {
        return found.rule->work(call, handle, &given, found.rule->user);
      });
      if (status == TMETER_UNSUPPORTED) return status;
    }
    const auto fail = [&](const char* why) { throw PluginError(plugin.manifest.id, doing, why); };
    if (given.macs < 0 || given.kept_bytes < 0) fail("its backward rule gives a negative amount");
    if (!are_within(given.keeps_arguments, node.args.size()) ||
        !are_within(given.keeps_results, node.results.size()))
      fail("its backward rule keeps an argument or result that the operator does not have");
    out->macs = given.macs;
    out->kept_bytes = given.kept_bytes;
    out->keeps_arguments = given.keeps_arguments;
    out->keeps_results = given.keeps_results;
    return TMETER_OK;
  });
}

}  // namespace

void note_ended_builder(const tmeter_builder* builder) noexcept {
  if (!current_call) return;
  const auto& ended = current_call->frame.ended_builders;
  if (std::ranges::find(ended, builder) != ended.end()) report_wrong_builder();
}

const tmeter_shape_rules_api* shape_rules_interface() {
  static const tmeter_shape_rules_api api{sizeof(tmeter_shape_rules_api),
                                          0,
                                          find_rule,
                                          begin_builder,
                                          infer,
                                          value_of_builder,
                                          end_builder};
  return &api;
}

const void* backward_rules_interface() {
  static const tmeter_backward_rules_api api{sizeof(tmeter_backward_rules_api), 0,
                                             call_backward_rule};
  return &api;
}

}  // namespace tmeter::core
