// tmeter.host.runs/1 and tmeter.host.events/1: the interfaces of observers and executors.
#include "core/base/error.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/runs_access.hpp"

namespace tmeter::core {
namespace {

RunsAccess& runs_of(tmeter_call* call) {
  if (!call->run.runs)
    throw Error(ErrorKind::kPlugin, "the model is not being run in this kind of call");
  return *call->run.runs;
}

template <class F>
tmeter_status with_runs(tmeter_call* call, F&& f) {
  return guard_callback(call, [&]() -> tmeter_status {
    f(runs_of(call));
    return TMETER_OK;
  });
}

/// A text of the runs; empty without runs.
template <class F>
tmeter_str text_of(tmeter_call* call, F&& f) {
  tmeter_str text{};
  guard_callback(call, [&]() -> tmeter_status {
    if (call->run.runs) text = to_abi(f(*call->run.runs));
    return TMETER_OK;
  });
  return text;
}

}  // namespace

const void* runs_interface() {
  static const tmeter_runs_api api{
      sizeof(tmeter_runs_api),
      0,
      [](tmeter_call* call, int32_t run, int32_t threads, int32_t rounds) {
        return with_runs(call, [&](RunsAccess& r) { r.want(run, threads, rounds); });
      },
      [](tmeter_call* call, uint64_t interval) {
        return with_runs(call, [&](RunsAccess& r) { r.want_samples(interval); });
      },
      [](tmeter_call* call, tmeter_str key) {
        return text_of(call, [&](const RunsAccess& r) { return r.fact(view(key)); });
      },
      [](tmeter_call* call) {
        return text_of(call, [](const RunsAccess& r) { return r.stopped(); });
      }};
  return &api;
}

const void* events_interface() {
  static const tmeter_events_api api{
      sizeof(tmeter_events_api), 0,
      [](tmeter_call* call, const tmeter_event* event) {
        return with_runs(call, [&](RunsAccess& r) { r.event(*event); });
      },
      [](tmeter_call* call, tmeter_str key, tmeter_str text) {
        return with_runs(call, [&](RunsAccess& r) { r.report_fact(view(key), view(text)); });
      },
      [](tmeter_call* call, const tmeter_tensor* tensor, tmeter_bytes* out) {
        return guard_callback(call, [&]() -> tmeter_status {
          const auto bytes = runs_of(call).weights(from_handle(tensor));
          if (bytes.empty()) return TMETER_UNAVAILABLE;
          *out = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
          return TMETER_OK;
        });
      }};
  return &api;
}

}  // namespace tmeter::core
