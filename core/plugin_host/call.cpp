#include "core/plugin_host/call.hpp"

#include <algorithm>

#include "core/base/interrupt.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/plugin_limits.hpp"

namespace tmeter::core {

void CallLog::add(int32_t level, std::string_view plugin, std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (level >= TMETER_LOG_WARNING) return warn(plugin, visible(message, plugin_limits::kTextBytes));
  const bool shown = level == TMETER_LOG_INFO ? verbosity_ >= 1 : verbosity_ >= 2;
  if (!shown || !sink_) return;
  // The host's own messages begin with its name anyway.
  const auto prefix = plugin == "tmeter" ? std::string() : std::string(plugin) + ": ";
  sink_->message(prefix + visible(message, plugin_limits::kTextBytes));
}

void CallLog::warn(std::string_view plugin, std::string text) {
  if (logged_.contains(text)) return;
  auto& count = warning_counts_.try_emplace(std::string(plugin), 0).first->second;
  if (count > plugin_limits::kWarnings) return;
  if (count++ == plugin_limits::kWarnings)
    text = "plugin " + std::string(plugin) +
           " sends more than 10,000 messages; the others are left out";
  logged_.insert(text);
  warnings_.push_back(std::move(text));
}

void CallLog::keep_warnings(size_t count) {
  warnings_.resize(std::min(count, warnings_.size()));
  logged_ = {warnings_.begin(), warnings_.end()};
  warning_counts_.clear();
}

void ProcessStateCheck::require_unchanged(std::string_view doing) const {
  auto change = before_.change_to(Arithmetic::now());
  before_.restore();
  if (change.empty() && state_) change = state_->change_since(call_.keeps_threads);
  if (!change.empty()) throw PluginError(call_.plugin_id, std::string(doing), change);
}

std::string escaped_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory_text();
  } catch (const std::exception& e) {
    return "an exception escaped: " + visible(e.what(), plugin_limits::kTextBytes);
  } catch (...) {
    return "an exception of unknown type escaped";
  }
}

namespace {

/// Rethrows an error found during the callback. A PluginError already names the plugin that was
/// called inside; any other error is blamed on this plugin.
void rethrow_defect(const tmeter_call& call, std::string_view doing) {
  try {
    std::rethrow_exception(call.frame.defect);
  } catch (const PluginError&) {
    throw;
  } catch (const std::exception& e) {
    throw PluginError(call.plugin_id, std::string(doing), e.what());
  }
}

/// Messages of our own plugins have tmeter's name.
std::string signed_text(const tmeter_call& call) {
  const bool own = call.plugin_id.starts_with("org.tmeter.");
  return own ? call.frame.error : call.frame.error + " (reported by plugin " + call.plugin_id + ")";
}

}  // namespace

void report_misuse(tmeter_call& call, std::string_view doing) {
  call.misused = false;
  throw PluginError(call.plugin_id, std::string(doing),
                    "it used a call on another thread than the one it was given to, or after the "
                    "function it was given to had returned");
}

void require_success(tmeter_call& call, tmeter_status status, std::string_view doing) {
  if (call.frame.defect) rethrow_defect(call, doing);
  if (status == TMETER_CANCELLED && Interrupt::requested())
    throw Error(ErrorKind::kInterrupted, "interrupted");
  if (call.frame.error.empty()) {
    throw PluginError(call.plugin_id, std::string(doing),
                      "it does not say why (status " + std::to_string(status) +
                          "); this is a defect of the plugin");
  }
  switch (status) {
    case TMETER_BAD_MODEL:
    case TMETER_REFUSED:
      throw Error(ErrorKind::kModel, signed_text(call));
    case TMETER_CANNOT_RUN:
      throw Error(ErrorKind::kRun, signed_text(call));
    case TMETER_BAD_USAGE:
    case TMETER_IO:
      throw Error(ErrorKind::kUsage, signed_text(call));
    default:
      throw PluginError(call.plugin_id, std::string(doing), call.frame.error);
  }
}

}  // namespace tmeter::core
