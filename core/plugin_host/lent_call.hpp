// The call of a plugin whose rule another plugin asks for.
#pragma once
#include <utility>

#include "core/plugin_host/call.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {

/// While a rule is at work: what the asking plugin's run gives is its, too, but for metrics; and if
/// it crashes, it was not what runs the file.
class Lent {
 public:
  Lent(tmeter_call& to, const tmeter_call& by)
      : to_(to), before_(std::exchange(to.run, by.run)), engine_(activity().engine) {
    to_.run.results = nullptr;
    activity().engine.clear();
  }
  ~Lent() {
    to_.run = before_;
    activity().engine = engine_;
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  tmeter_call& to_;
  RunContext before_;
  decltype(Activity::engine) engine_;
};

}  // namespace tmeter::core
