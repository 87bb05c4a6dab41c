// tmeter.host.call/1, tmeter.host.results/1 and tmeter.host.hardware/1: the services of a call.
#include <tmeter/cpp/op_class.hpp>

#include "core/base/interrupt.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/node_memory.hpp"
#include "core/plugin_host/plugin_limits.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/plugin_host/signature_escape.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMaxScratch = size_t{1} << 30;

void* scratch(tmeter_call* call, size_t bytes) {
  if (bytes > kMaxScratch || !may_be_used(call)) return nullptr;
  try {
    return call->frame.scratch.emplace_back(std::make_unique<char[]>(bytes)).get();
  } catch (const std::bad_alloc&) {
    return nullptr;  // --max-memory: nothing is thrown across the border
  }
}

/// "serving.context": the option `context` of a plugin that this one needs. Null without such a
/// plugin.
const OptionValue* option_of_needed(tmeter_call* call, std::string_view key) {
  const auto dot = key.find('.');
  if (dot == key.npos || !call->registry) return nullptr;
  const auto* options = call->registry->options_of_needed(key.substr(0, dot), call->plugin_id);
  const auto it = options ? options->find(key.substr(dot + 1)) : ResolvedOptions::const_iterator();
  return options && it != options->end() ? &it->second : nullptr;
}

/// The declared option, or null with the error set.
const OptionValue* find_option(tmeter_call* call, tmeter_str key) {
  const auto it =
      call->options ? call->options->find(view(key)) : ResolvedOptions::const_iterator();
  if (call->options && it != call->options->end()) return &it->second;
  if (const auto* found = option_of_needed(call, view(key))) return found;
  call->frame.error = "option '" + printable(view(key)) + "' was not declared by the plugin";
  return nullptr;
}

template <class Out, class Read>
tmeter_status read_option(tmeter_call* call, tmeter_str key, Out* out, Read read) {
  const auto* option = may_be_used(call) ? find_option(call, key) : nullptr;
  if (!option) return TMETER_INVALID_ARGUMENT;
  *out = read(*option);
  return TMETER_OK;
}

ResultsAccess& results_of(tmeter_call* call) {
  if (!call->run.results)
    throw Error(ErrorKind::kPlugin, "metrics cannot be used in this kind of call");
  return *call->run.results;
}

tmeter_status hardware_number(tmeter_call* call, tmeter_str key, double* out, tmeter_str* source) {
  return guard_callback(call, [&]() -> tmeter_status {
    if (!call->run.hardware) return TMETER_UNAVAILABLE;
    const auto& numbers = call->run.hardware->get().numbers;
    const auto it = numbers.find(view(key));
    if (it == numbers.end()) return TMETER_UNAVAILABLE;
    *out = it->second.value;
    *source = to_abi(it->second.source);
    return TMETER_OK;
  });
}

/// A text of the profile; empty without a profile. A profile that cannot be read fails in `number`,
/// which every user of a profile calls.
template <std::string HardwareProfile::*Member>
tmeter_str hardware_text(tmeter_call* call) {
  tmeter_str out{};
  guard_callback(call, [&]() -> tmeter_status {
    if (call->run.hardware) out = to_abi(call->run.hardware->get().*Member);
    return TMETER_OK;
  });
  return out;
}

/// Releases the pages that a loader has read, so that a large file does not stay in memory beside
/// its graph; pages read again come from the page cache. Loaders check for interruption every
/// millisecond or so, so this hook runs often enough.
void release_read_pages(tmeter_call& call) {
  constexpr uint32_t kCallsPerCheck = 32;
  if (call.reading && ++call.interrupt_checks % kCallsPerCheck == 0)
    call.reading->release(0, call.reading->bytes().size());
}

/// Progress of a loader or an analysis; its caller in the host clears the line.
void show_progress(tmeter_call* call, uint64_t done, uint64_t total, tmeter_str unit) {
  constexpr size_t kMaxUnitBytes = 24;
  guard_callback(call, [&]() -> tmeter_status {
    auto* sink = call->run.log ? call->run.log->sink() : nullptr;
    if (sink) sink->progress(done, total, printable(view(unit), kMaxUnitBytes));
    return TMETER_OK;
  });
}

}  // namespace

const tmeter_call_api* call_interface() {
  static const tmeter_call_api api{
      sizeof(tmeter_call_api),
      0,
      [](tmeter_call* c, tmeter_str message) {
        guard_callback(c, [&]() -> tmeter_status {
          // The SDK's message for std::bad_alloc, which does not contain the limit.
          c->frame.error = view(message) == "out of memory"
                               ? out_of_memory_text()
                               : visible(view(message), plugin_limits::kTextBytes);
          return TMETER_OK;
        });
      },
      [](tmeter_call* c, int32_t level, tmeter_str message) {
        guard_callback(c, [&]() -> tmeter_status {
          if (c->run.log) c->run.log->add(level, c->plugin_id, view(message));
          return TMETER_OK;
        });
      },
      [](tmeter_call* c) -> int32_t {
        if (may_be_used(c)) release_read_pages(*c);
        return Interrupt::requested();
      },
      scratch,
      show_progress,
      [](tmeter_call* c, tmeter_str key, tmeter_str* out) {
        return read_option(c, key, out, [](const OptionValue& o) { return to_abi(o.text); });
      },
      [](tmeter_call* c, tmeter_str key, int64_t* out) {
        return read_option(c, key, out, [](const OptionValue& o) { return o.i; });
      },
      [](tmeter_call* c, tmeter_str key, double* out) {
        return read_option(c, key, out, [](const OptionValue& o) { return o.f; });
      },
      [](tmeter_call* c, tmeter_str key, int32_t* out) {
        return read_option(c, key, out, [](const OptionValue& o) -> int32_t { return o.b; });
      },
      [](tmeter_call* c, tmeter_str what) {
        if (may_be_used(c)) activity_slot().at.set(view(what));
      },
      [](tmeter_call* c) -> const tmeter_graph* {
        SignatureEscape::note();
        return may_be_used(c) ? to_handle(c->run.graph) : nullptr;
      }};
  return &api;
}

namespace {

/// Operators of PyTorch are known by name: a plugin's schema does not apply to them.
std::optional<Schema> schema_of(const tmeter_call& call, const Node& node) {
  if (!call.registry || is_common_op(node.op)) return std::nullopt;
  const auto* text = call.registry->schema_of(node.full_name());
  return text ? std::optional<Schema>(*text) : std::nullopt;
}

/// Throws Error(kPlugin) when the address is not that of a node of the graph.
const Node& node_of(const tmeter_call* call, const tmeter_node* handle) {
  const auto* node = from_handle(handle);
  if (call->run.graph && !call->run.graph->has(node))
    throw Error(ErrorKind::kPlugin, "it requests a node that the graph does not have");
  return *node;
}

tmeter_status result_memory(tmeter_call* c, const tmeter_node* handle, size_t result,
                            int32_t* memory, size_t* argument) {
  return guard_callback(c, [&]() -> tmeter_status {
    const auto& node = node_of(c, handle);
    const auto given = results_of(c).op_class(node);
    if (result >= node.results.size()) return TMETER_INVALID_ARGUMENT;
    const auto schema = schema_of(*c, node);
    const auto found = memory_of_result(node, result, schema ? &*schema : nullptr, given);
    *memory = found.kind;
    *argument = found.argument;
    return TMETER_OK;
  });
}

tmeter_status argument_written(tmeter_call* c, const tmeter_node* handle, size_t argument,
                               int32_t* written) {
  return guard_callback(c, [&]() -> tmeter_status {
    const auto& node = node_of(c, handle);
    const auto given = results_of(c).op_class(node);
    if (argument >= node.args.size()) return TMETER_INVALID_ARGUMENT;
    const auto schema = schema_of(*c, node);
    const auto writes = writes_argument(node, argument, schema ? &*schema : nullptr, given);
    if (!writes) return TMETER_UNSUPPORTED;
    *written = *writes ? 1 : 0;
    return TMETER_OK;
  });
}

}  // namespace

const tmeter_results_api* results_interface() {
  static const tmeter_results_api api{
      sizeof(tmeter_results_api),
      0,
      [](tmeter_call* c, tmeter_number n) {
        return guard_callback(c,
                              [&]() -> tmeter_status { return results_of(c).emit(n), TMETER_OK; });
      },
      [](tmeter_call* c, tmeter_str metric, int32_t axis, size_t index, tmeter_number n) {
        return guard_callback(c, [&]() -> tmeter_status {
          return results_of(c).emit_at(view(metric), axis, index, n, c->plugin_id), TMETER_OK;
        });
      },
      [](tmeter_call* c, tmeter_str metric, int32_t axis, size_t index, tmeter_number* out) {
        return guard_callback(c, [&]() -> tmeter_status {
          return results_of(c).read(view(metric), axis, index, *out) ? TMETER_OK
                                                                     : TMETER_UNSUPPORTED;
        });
      },
      [](tmeter_call* c, tmeter_str metric, tmeter_str text) {
        return guard_callback(c, [&]() -> tmeter_status {
          return results_of(c).set_convention(view(metric), view(text), c->plugin_id), TMETER_OK;
        });
      },
      [](tmeter_call* c, tmeter_str metric, int32_t provenance, tmeter_str text) {
        return guard_callback(c, [&]() -> tmeter_status {
          return results_of(c).set_provenance(view(metric), provenance, view(text), c->plugin_id),
                 TMETER_OK;
        });
      },
      [](tmeter_call* c, const tmeter_node* node, tmeter_str* out) {
        return guard_callback(c, [&]() -> tmeter_status {
          return *out = to_abi(results_of(c).op_class(node_of(c, node))), TMETER_OK;
        });
      },
      result_memory,
      argument_written};
  return &api;
}

const tmeter_findings_api* findings_interface() {
  static const tmeter_findings_api api{
      sizeof(tmeter_findings_api), 0, [](tmeter_call* c, const tmeter_finding* f) {
        return guard_callback(c, [&]() -> tmeter_status {
          return results_of(c).add_finding(*f, c->plugin_id), TMETER_OK;
        });
      }};
  return &api;
}

const tmeter_distributions_api* distributions_interface() {
  static const tmeter_distributions_api api{
      sizeof(tmeter_distributions_api), 0,
      [](tmeter_call* c, const tmeter_distribution* d) {
        return guard_callback(c, [&]() -> tmeter_status {
          return results_of(c).add_distribution(*d, c->plugin_id), TMETER_OK;
        });
      },
      [](tmeter_call* c, const tmeter_series* s) {
        return guard_callback(c, [&]() -> tmeter_status {
          return results_of(c).add_series(*s, c->plugin_id), TMETER_OK;
        });
      }};
  return &api;
}

const void* trials_interface() {
  static const tmeter_trials_api api{
      sizeof(tmeter_trials_api), 0,
      [](tmeter_call* c, tmeter_str metric, const tmeter_trial_size* sizes, size_t size_count,
         const tmeter_trial_option* options, size_t option_count, tmeter_number* out) {
        return guard_callback(c, [&]() -> tmeter_status {
          return results_of(c).try_value(
              {view(metric), {sizes, size_count}, {options, option_count}}, *out);
        });
      }};
  return &api;
}

const tmeter_hardware_api* hardware_interface() {
  static const tmeter_hardware_api api{sizeof(tmeter_hardware_api), 0,
                                       hardware_text<&HardwareProfile::name>,
                                       hardware_text<&HardwareProfile::title>, hardware_number};
  return &api;
}

}  // namespace tmeter::core
