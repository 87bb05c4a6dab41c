#include "core/plugin_host/call.hpp"

#include <algorithm>

namespace tmeter::core {

void CallLog::add(int32_t level, std::string_view plugin, std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (level >= TMETER_LOG_WARNING) {
    if (std::find(warnings_.begin(), warnings_.end(), message) == warnings_.end())
      warnings_.emplace_back(message);
    return;
  }
  const bool shown = level == TMETER_LOG_INFO ? verbosity_ >= 1 : verbosity_ >= 2;
  if (shown && outlet_) outlet_->message(std::string(plugin) + ": " + std::string(message));
}

void require_success(tmeter_call& call, tmeter_status status, std::string_view doing) {
  if (status == TMETER_CANCELLED) throw Error(ErrorKind::kInterrupted, "interrupted");
  const bool explained = !call.error.empty();
  const std::string text = explained
                               ? call.error
                               : "plugin " + call.plugin_id + " failed " + std::string(doing) +
                                     " without saying why (status " + std::to_string(status) +
                                     "); this is a defect of the plugin";
  switch (explained ? status : int32_t{TMETER_INTERNAL}) {
    case TMETER_BAD_MODEL:
    case TMETER_REFUSED:
      throw Error(ErrorKind::kModel, text);
    case TMETER_CANNOT_RUN:
      throw Error(ErrorKind::kRun, text);
    case TMETER_BAD_USAGE:
    case TMETER_IO:
      throw Error(ErrorKind::kUsage, text);
    default:
      throw Error(ErrorKind::kPlugin, explained ? "plugin " + call.plugin_id + " failed " +
                                                      std::string(doing) + ": " + text
                                                : text);
  }
}

}  // namespace tmeter::core
