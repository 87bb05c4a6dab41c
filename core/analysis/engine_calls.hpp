// How the engine calls plugins; for its own sources only.
#pragma once
#include <utility>

#include "core/analysis/engine.hpp"

namespace tmeter::core {

/// Marks something as being worked on while it lives; `done` says it is finished, else it waits
/// again. What is being worked on already needs itself: that is a circle.
class Engine::Working {
 public:
  Working(Engine& engine, Stage& stage, const Step& step) : engine_(engine), stage_(stage) {
    if (stage == Stage::kRunning) engine.tell_circle(step);
    engine.at_work_.push_back(step);
    stage = Stage::kRunning;
  }
  ~Working() {
    engine_.at_work_.pop_back();
    stage_ = done_ ? Stage::kDone : Stage::kWaiting;
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
  void done() { done_ = true; }

 private:
  Engine& engine_;
  Stage& stage_;
  bool done_ = false;
};

template <class F>
tmeter_status Engine::call_plugin(Plugin& plugin, std::string_view doing, F&& f) {
  return invoke(plugin.call, doing, std::forward<F>(f));
}

template <class F>
std::optional<tmeter_number> Engine::ask(Plugin& plugin, const Frame& frame, std::string_view doing,
                                         F&& f) {
  const FrameOf at_work(*this, frame);
  if (call_plugin(plugin, doing, std::forward<F>(f)) != TMETER_OK) return std::nullopt;
  if (!frames_.back().emitted)
    throw PluginError(plugin.manifest.id, std::string(doing), "it ends well but gives no value");
  if (frame.column) note_largest(*frame.column, plugin, frames_.back().value);
  return frames_.back().value;
}

}  // namespace tmeter::core
