#include "core/execution/told_run.hpp"

#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::kPlugin, what); }

}  // namespace

void ToldRun::check(const tmeter_event& event) {
  check_order(event.kind);
  switch (event.kind) {
    case TMETER_EVENT_OP_BEGIN:
    case TMETER_EVENT_OP_END:
      if (!event.node) refuse("an event of an operator has no operator");
      break;
    case TMETER_EVENT_ALLOCATE:
    case TMETER_EVENT_FREE:
      check_memory(event);
      break;
    default:
      break;
  }
  if (event.since > event.nanoseconds) {
    refuse("an event at " + std::to_string(event.nanoseconds) + " ns began after that, at " +
           std::to_string(event.since) + " ns");
  }
}

void ToldRun::check_order(int32_t kind) {
  if (kind == TMETER_EVENT_RUN_BEGIN) {
    if (begun_) refuse("a run begins twice");
    begun_ = true;
    return;
  }
  if (!begun_) refuse("an event comes before the begin of its run");
  if (ended_) refuse("an event comes after the end of its run");
  ended_ = kind == TMETER_EVENT_RUN_END;
}

/// The sum of all is an integer, too: observers add up.
void ToldRun::check_memory(const tmeter_event& event) {
  if (event.bytes <= 0)
    refuse("an event of memory is of " + std::to_string(event.bytes) + " bytes");
  if (__builtin_add_overflow(moved_, event.bytes, &moved_))
    refuse("a run allocates and frees more than 2^63 bytes");
}

std::string ToldRun::lacks() const {
  if (!begun_) return "a run is told of by no event";
  return ended_ ? "" : "a run has no end";
}

}  // namespace tmeter::core
