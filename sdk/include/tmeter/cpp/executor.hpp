// Executors: run models. abi/executor.h.
#pragma once
#include <memory>

#include "../abi/executor.h"
#include "plugin.hpp"

TMETER_SDK_BEGIN

namespace detail {
inline const tmeter_events_api& events_api() {
  static const auto& api = interface_of<tmeter_events_api>(TMETER_HOST_EVENTS);
  return api;
}
}  // namespace detail

/// A call in which a model is prepared or run.
class ExecutorCall : public Call {
 public:
  using Call::Call;
  /// In `run`.
  void event(const tmeter_event& event) const {
    check(detail::events_api().event(handle(), &event));
  }
  /// In `prepare`: a fact for observers and reports.
  void fact(std::string_view key, std::string_view text) const {
    check(detail::events_api().fact(handle(), to_abi(key), to_abi(text)));
  }
  /// In `prepare`: the memory of a tensor's elements, read-only; null if the file lacks them.
  tmeter_bytes weights(const Tensor& tensor) const {
    tmeter_bytes bytes{};
    const auto status = detail::events_api().weights(handle(), tensor.handle(), &bytes);
    if (status == TMETER_UNAVAILABLE) return {};
    check(status);
    return bytes;
  }
};

/// A model ready to run.
class Execution {
 public:
  virtual ~Execution() = default;
  virtual void run(int32_t run, int32_t threads, ExecutorCall& call) = 0;
};

namespace detail {

using Prepare = std::unique_ptr<Execution> (*)(const Graph&, const tmeter_run_request&,
                                               ExecutorCall&);

template <Prepare P>
tmeter_status TMETER_ABI prepare_execution(tmeter_call* call, const tmeter_graph* graph,
                                           const tmeter_run_request* request, void** state, void*) {
  return guarded(call, [&]() -> tmeter_status {
    ExecutorCall c(call);
    *state = P(Graph(graph), *request, c).release();
    return TMETER_OK;
  });
}
inline tmeter_status TMETER_ABI run_execution(tmeter_call* call, void* state, int32_t run,
                                              int32_t threads, void*) {
  return guarded(call, [&]() -> tmeter_status {
    ExecutorCall c(call);
    static_cast<Execution*>(state)->run(run, threads, c);
    return TMETER_OK;
  });
}
inline void TMETER_ABI release_execution(void* state, void*) {
  delete static_cast<Execution*>(state);
}

}  // namespace detail

/// Registers the plugin's only executor. `P` prepares an Execution, or throws (UNSUPPORTED passes
/// to the next executor).
template <detail::Prepare P>
void executor(Registrar& r, std::string_view name) {
  static tmeter_executor item;
  item = {sizeof item,
          0,
          to_abi(name),
          &detail::prepare_execution<P>,
          &detail::run_execution,
          &detail::release_execution,
          nullptr};
  static const tmeter_executors table{
      sizeof table, 1,
      [](uint32_t i, void*) -> const tmeter_executor* { return i == 0 ? &item : nullptr; },
      nullptr};
  r.offer(TMETER_CAP_EXECUTOR, &table);
}

TMETER_SDK_END
