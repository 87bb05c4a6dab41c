// Guards the steps that load or call a plugin's code before its tables are checked.
#pragma once
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/plugin_host/call.hpp"
#include "core/process/activity.hpp"
#include "core/process/process_state_snapshot.hpp"

namespace tmeter::core {

inline constexpr std::string_view kWhileOpened = "while it was opened";

/// Runs `f`, which opens the plugin `who` and returns whether threads may stay. Throws PluginError
/// if an exception escapes from the plugin, or if it changes the state of the process, which other
/// plugins must not use then. `closely`: checks the whole state, not only the floating-point
/// environment.
template <class F>
void open_guarded(const std::string& who, OpenedFor opening, bool closely, F&& f) {
  const PluginScope inside(who, kWhileOpened, opening);
  const auto fail = [&](const std::string& why) {
    throw PluginError(who, std::string(kWhileOpened), why, false, opening != OpenedFor::kFound);
  };
  const auto arithmetic = Arithmetic::now();
  std::optional<ProcessStateSnapshot> before;
  if (closely) before = ProcessStateSnapshot::now();
  bool threads_may_stay = false;
  try {
    threads_may_stay = f();
  } catch (const Error&) {
    throw;
  } catch (...) {
    fail(escaped_exception());
  }
  auto change = arithmetic.change_to(Arithmetic::now());
  if (change.empty() && before) change = before->change_since(threads_may_stay);
  if (!change.empty()) fail(change);
}

}  // namespace tmeter::core
