// Observers of real runs. abi/observer.h.
//
//   struct Runs final : tmeter::Observer {
//     void begin(const tmeter::Graph&, tmeter::ObserverCall& call) override {
//       call.want(TMETER_RUN_WHOLE);
//     }
//     void event(const tmeter_event& e, tmeter::ObserverCall&) override {
//       runs += e.kind == TMETER_EVENT_RUN_END;
//     }
//     void end(const tmeter::Graph&, tmeter::ObserverCall& call) override {
//       call.emit("runs", TMETER_AXIS_MODEL, 0, tmeter::Count(runs));
//     }
//     int64_t runs = 0;
//   };
//   tmeter::observer<Runs>(r, "runs", "runs");
#pragma once
#include <memory>
#include <optional>

#include "../abi/observer.h"
#include "plugin.hpp"

TMETER_SDK_BEGIN

namespace detail {
inline const tmeter_runs_api& runs_api() {
  static const auto& api = interface_of<tmeter_runs_api>(TMETER_HOST_RUNS);
  return api;
}
}  // namespace detail

/// A call of an observer.
class ObserverCall : public Call {
 public:
  using Call::Call;
  /// In `begin`: one such run in every round, or in `rounds` rounds; `threads` 0: the user's
  /// number.
  void want(int32_t run, int32_t threads = 0, int32_t rounds = 0) const {
    check(detail::runs_api().want(handle(), run, threads, rounds));
  }
  /// In `begin`: requests calls of `sample` at an interval.
  void want_samples(uint64_t nanoseconds) const {
    check(detail::runs_api().want_samples(handle(), nanoseconds));
  }
  /// "device", "engine", "weights", …; empty: unknown.
  std::string_view fact(std::string_view key) const {
    return to_view(detail::runs_api().fact(handle(), to_abi(key)));
  }
  /// In `end`: the reason for an early stop; empty without one.
  std::string_view stopped() const { return to_view(detail::runs_api().stopped(handle())); }
};

/// Created once for each run of tmeter that runs the model, and deleted after `end`.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(const Graph& graph, ObserverCall& call) = 0;
  virtual void event(const tmeter_event& event, ObserverCall& call) = 0;
  virtual bool enough(ObserverCall& call) { return static_cast<void>(call), true; }
  virtual void end(const Graph& graph, ObserverCall& call) = 0;
  /// Called on a separate thread, never at the same time as the other functions.
  virtual void sample(uint64_t nanoseconds, ObserverCall& call) {
    static_cast<void>(nanoseconds), static_cast<void>(call);
  }
};

namespace detail {

template <class O>
struct ObserverFunctions {
  using State = std::unique_ptr<Observer>;
  static State& of(void* user) { return *static_cast<State*>(user); }

  static tmeter_status TMETER_ABI begin(tmeter_call* call, const tmeter_graph* g, void* user) {
    return guarded(call, [&]() -> tmeter_status {
      ObserverCall c(call);
      of(user) = std::make_unique<O>();
      of(user)->begin(Graph(g), c);
      return TMETER_OK;
    });
  }
  static tmeter_status TMETER_ABI event(tmeter_call* call, const tmeter_event* e, void* user) {
    return guarded(call, [&]() -> tmeter_status {
      ObserverCall c(call);
      of(user)->event(*e, c);
      return TMETER_OK;
    });
  }
  static int32_t TMETER_ABI enough(tmeter_call* call, void* user) {
    int32_t answer = 0;
    guarded(call, [&]() -> tmeter_status {
      ObserverCall c(call);
      answer = of(user)->enough(c);
      return TMETER_OK;
    });
    return answer;
  }
  static tmeter_status TMETER_ABI end(tmeter_call* call, const tmeter_graph* g, void* user) {
    return guarded(call, [&]() -> tmeter_status {
      ObserverCall c(call);
      const auto observer = std::move(of(user));
      observer->end(Graph(g), c);
      return TMETER_OK;
    });
  }
  static tmeter_status TMETER_ABI sample(tmeter_call* call, uint64_t ns, void* user) {
    return guarded(call, [&]() -> tmeter_status {
      ObserverCall c(call);
      of(user)->sample(ns, c);
      return TMETER_OK;
    });
  }
};

}  // namespace detail

/// Registers the plugin's only observer, of class `O`, which is created for each run
/// of the model. `produced`: ids of the metrics it emits, separated by spaces.
template <class O>
void observer(Registrar& r, std::string_view name, std::string_view produced) {
  using Functions = detail::ObserverFunctions<O>;
  static typename Functions::State state;
  static tmeter_observer item;
  item = {sizeof item,        0,
          to_abi(name),       to_abi(produced),
          &Functions::begin,  &Functions::event,
          &Functions::enough, &Functions::end,
          &Functions::sample, &state};
  static const tmeter_observers table{
      sizeof table, 1,
      [](uint32_t i, void*) -> const tmeter_observer* { return i == 0 ? &item : nullptr; },
      nullptr};
  r.offer(TMETER_CAP_OBSERVER, &table);
}

TMETER_SDK_END
