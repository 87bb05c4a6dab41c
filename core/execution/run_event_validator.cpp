#include "core/execution/run_event_validator.hpp"

#include "core/base/error.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::kPlugin, what); }

std::string ns(uint64_t time) { return std::to_string(time) + " ns"; }

bool is_of_operator(int32_t event) {
  return event == TMETER_EVENT_OP_BEGIN || event == TMETER_EVENT_OP_END;
}
bool is_of_memory(int32_t event) {
  return event == TMETER_EVENT_ALLOCATE || event == TMETER_EVENT_FREE;
}

/// True if a run of this kind reports events of that kind.
bool is_reported(int32_t run, int32_t event) {
  if (is_of_operator(event)) return run == TMETER_RUN_OPERATORS || run == TMETER_RUN_MEMORY;
  return !is_of_memory(event) || run == TMETER_RUN_MEMORY;
}

}  // namespace

void RunEventValidator::check(const tmeter_event& event) {
  check_place(event.kind);
  check_node(event);
  check_time(event);
  if (is_of_operator(event.kind)) check_operator(event);
  if (is_of_memory(event.kind)) check_memory(event);
  if (event.kind == TMETER_EVENT_RUN_END && event.since < run_begin_)
    refuse("a run that was reported at " + ns(run_begin_) + " began before that, at " +
           ns(event.since));
  if (event.kind == TMETER_EVENT_RUN_BEGIN) {
    begun_ = true;
    run_begin_ = event.nanoseconds;
  }
  ended_ = event.kind == TMETER_EVENT_RUN_END;
}

void RunEventValidator::check_place(int32_t event) const {
  if (event == TMETER_EVENT_RUN_BEGIN) {
    if (begun_) refuse("a run begins twice");
    return;
  }
  if (!begun_) refuse("an event comes before the start of its run");
  if (ended_) refuse("an event comes after the end of its run");
  if (!is_reported(kind_, event))
    refuse("an event of kind " + std::to_string(event) + " does not belong to a run of kind " +
           std::to_string(kind_));
  if (event == TMETER_EVENT_RUN_END && current_) refuse("a run ends before one of its operators");
}

void RunEventValidator::check_node(const tmeter_event& event) const {
  if (is_of_operator(event.kind) && !event.node) refuse("an operator event names no operator");
  if (event.node && !graph_->has(from_handle(event.node)))
    refuse("an event names a node that the graph does not have");
}

void RunEventValidator::check_time(const tmeter_event& event) {
  if (event.since > event.nanoseconds)
    refuse("an event at " + ns(event.nanoseconds) + " began after that, at " + ns(event.since));
  auto& last = is_of_memory(event.kind) ? last_memory_ : last_;
  if (event.nanoseconds < last)
    refuse("an event at " + ns(event.nanoseconds) + " is reported after one at " + ns(last));
  last = event.nanoseconds;
}

/// Operators are sequential; an operator inside another one is not reported.
void RunEventValidator::check_operator(const tmeter_event& event) {
  if (event.kind == TMETER_EVENT_OP_BEGIN) {
    if (current_) refuse("an operator begins before the current one has ended");
    current_ = event.node;
    operator_begin_ = event.nanoseconds;
    return;
  }
  if (current_ != event.node) refuse("an operator ends that has not begun");
  if (event.since < operator_begin_)
    refuse("an operator that was reported at " + ns(operator_begin_) + " began before that, at " +
           ns(event.since));
  current_ = nullptr;
}

/// The total must also fit an integer, because observers sum the bytes.
void RunEventValidator::check_memory(const tmeter_event& event) {
  if (event.bytes <= 0) refuse("a memory event has " + std::to_string(event.bytes) + " bytes");
  if (__builtin_add_overflow(total_bytes_, event.bytes, &total_bytes_))
    refuse("a run allocates and frees more than 2^63 bytes");
}

std::string RunEventValidator::missing_event() const {
  if (!begun_) return "no event of a run is reported";
  return ended_ ? "" : "a run has no end";
}

}  // namespace tmeter::core
