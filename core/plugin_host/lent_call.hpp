// Lends a run to a plugin whose rule another plugin calls.
#pragma once
#include <utility>

#include "core/plugin_host/call.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {

/// While it lives, the rule's plugin uses the caller's run, except its results. A crash inside is
/// not blamed on the engine that runs the file.
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
