// The host's side of a call into a plugin: the object behind `tmeter_call`, and `invoke`, which
// turns a plugin's status and error text into an Error that names the plugin.
#pragma once
#include <pthread.h>
#include <tmeter/abi/draft/trials.h>
#include <tmeter/abi/tmeter.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/host_sink.hpp"
#include "core/config/hardware.hpp"
#include "core/plugin_host/live_handles.hpp"
#include "core/plugin_host/options.hpp"
#include "core/plugin_host/tensor_bytes.hpp"
#include "core/process/activity.hpp"
#include "core/process/limits.hpp"
#include "core/process/process_state_snapshot.hpp"

namespace tmeter::core {

class Graph;
class Registry;
class RunsAccess;
struct Node;

/// Receives and supplies the values of handlers and analyses; core/analysis implements it.
/// `plugin`: the id of the caller.
class ResultsAccess {
 public:
  struct Trial {
    std::string_view metric;
    std::span<const tmeter_trial_size> sizes;
    std::span<const tmeter_trial_option> options;
  };

  virtual ~ResultsAccess() = default;
  virtual void emit(tmeter_number value) = 0;
  virtual void emit_at(std::string_view metric, int32_t axis, size_t index, tmeter_number value,
                       std::string_view plugin) = 0;
  /// False if no loaded plugin has the metric.
  virtual bool read(std::string_view metric, int32_t axis, size_t index, tmeter_number& out) = 0;
  virtual void set_convention(std::string_view metric, std::string_view text,
                              std::string_view plugin) = 0;
  virtual void set_provenance(std::string_view metric, int32_t provenance, std::string_view text,
                              std::string_view plugin) = 0;
  /// The class that a plugin gives to the node's operator; empty: none does.
  virtual std::string_view op_class(const Node& node) = 0;
  virtual void add_finding(const tmeter_finding& finding, std::string_view plugin) = 0;
  virtual void add_distribution(const tmeter_distribution& d, std::string_view plugin) = 0;
  virtual void add_series(const tmeter_series& s, std::string_view plugin) = 0;
  /// A value of a trial (abi/draft/trials.h).
  virtual tmeter_status try_value(const Trial& trial, tmeter_number& out) = 0;
};

/// Messages of running plugins. Equal warnings are kept once and become part of the report.
/// Used from any thread; call `warnings` after the work has ended.
class CallLog {
 public:
  /// Without a sink nothing is shown.
  explicit CallLog(int verbosity = 0, HostSink* sink = nullptr)
      : verbosity_(verbosity), sink_(sink) {}
  int verbosity() const { return verbosity_; }
  HostSink* sink() const { return sink_; }
  void add(int32_t level, std::string_view plugin, std::string_view message);
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Keeps the first `count` warnings and forgets the others.
  void keep_warnings(size_t count);

 private:
  void warn(std::string_view plugin, std::string text);

  int verbosity_;
  HostSink* sink_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
  std::unordered_set<std::string, TextHash> logged_;                  // of warnings_
  std::unordered_map<std::string, size_t, TextHash> warning_counts_;  // plugin → warnings
};

/// Objects of the run that every call refers to.
struct RunContext {
  CallLog* log = nullptr;
  ResultsAccess* results = nullptr;
  const HardwareSource* hardware = nullptr;
  const TensorBytes* tensors = nullptr;  // null: elements are not read
  const Graph* graph = nullptr;          // null: not loaded yet
  RunsAccess* runs = nullptr;            // null: the model is not being run
};

}  // namespace tmeter::core

namespace tmeter::core {

/// State of one callback. A handler that reads another metric of its own plugin is called again
/// inside itself; the inner call leaves the memory and the error text of the outer one unchanged.
struct CallFrame {
  std::string error;
  std::exception_ptr defect;  // fault of the host or another plugin, which the callback cannot hide
  std::vector<std::unique_ptr<char[]>> scratch;
  ElementBuffer elements;  // buffer of tensor_data.h's view
  /// Open builders for shape rules, and the addresses of recently returned ones
  /// (operator_rules.cpp).
  std::unordered_map<const tmeter_builder*, std::shared_ptr<tmeter_builder>> rule_builders;
  std::vector<const tmeter_builder*> ended_builders;
};

}  // namespace tmeter::core

/// The ABI's opaque handle. One per plugin and run, used by one thread at a time.
struct tmeter_call {
  std::string plugin_id;
  const tmeter::core::ResolvedOptions* options = nullptr;
  const std::vector<tmeter::core::GivenOption>* given = nullptr;  // options in tables
  tmeter::core::RunContext run;
  tmeter::core::Registry* registry = nullptr;  // the plugins with shape rules, once open
  tmeter::core::CallFrame frame;
  int depth = 0;                                      // nested callbacks
  const tmeter::core::MappedFile* reading = nullptr;  // read by the running loader
  uint32_t interrupt_checks = 0;                      // number of checks for Ctrl-C
  bool keeps_threads = false;  // may leave threads running, such as LibTorch's pool
  pthread_t thread{};          // thread of the running callback
  bool misused = false;        // on another thread, or after its callback; set from any thread
  tmeter::core::LiveMark mark{};
};

namespace tmeter::core {

/// True if the plugin may use the call here: inside the callback that received it, on its thread. A
/// violation is recorded; the plugin fails when its callback ends.
inline bool may_be_used(tmeter_call* call) {
  if (!call || !call->mark.is_there()) return false;
  if (std::atomic_ref(call->depth).load(std::memory_order_relaxed) > 0 &&
      pthread_equal(call->thread, pthread_self()))
    return true;
  std::atomic_ref(call->misused).store(true, std::memory_order_relaxed);
  return false;
}

/// The innermost callback on this thread; null outside of plugins. Used by functions of the ABI
/// that take no call.
inline thread_local constinit tmeter_call* current_call = nullptr;

/// A new frame for one callback. Its end restores the frame of the outer callback.
class FrameScope {
 public:
  explicit FrameScope(tmeter_call& call)
      : call_(call), outer_call_(std::exchange(current_call, &call)), outer_thread_(call.thread) {
    call_.thread = pthread_self();
    if (call_.depth++ == 0) return;
    outer_ = std::move(call_.frame);
    call_.frame = {};
  }
  ~FrameScope() {
    --call_.depth;
    current_call = outer_call_;
    call_.thread = outer_thread_;
    if (call_.depth > 0) {
      call_.frame = std::move(outer_);
      return;
    }
    call_.frame.error.clear();
    if (call_.frame.defect) call_.frame.defect = nullptr;
    if (!call_.frame.scratch.empty()) call_.frame.scratch.clear();
    if (!call_.frame.rule_builders.empty()) call_.frame.rule_builders.clear();
    if (!call_.frame.ended_builders.empty()) call_.frame.ended_builders.clear();
  }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  tmeter_call& call_;
  tmeter_call* outer_call_;
  pthread_t outer_thread_;
  CallFrame outer_;
};

/// Throws PluginError if the call was used on another thread or after its callback.
[[noreturn]] void report_misuse(tmeter_call& call, std::string_view doing);

/// Throws unless the callback succeeded and broke no rule. `doing` completes "plugin X failed …".
void require_success(tmeter_call& call, tmeter_status status, std::string_view doing);

/// Describes the exception that escaped from a plugin. Call it in a catch block.
std::string escaped_exception();

/// Runs `f`, a call by which the plugin releases something. It cannot fail: an escaping exception
/// ends the worker, and the message names the plugin.
template <class F>
void call_release(std::string_view plugin, std::string_view doing, F&& f) noexcept {
  const PluginScope inside(plugin, doing);
  try {
    f();
  } catch (...) {
    activity_slot().doing.set(std::string(doing) + ": " + escaped_exception());
    std::abort();
  }
}

/// Throws PluginError if the plugin does not restore the state of its process.
class ProcessStateCheck {
 public:
  explicit ProcessStateCheck(const tmeter_call& call) : call_(call), before_(Arithmetic::now()) {
    if (activity().checks_process_state) state_ = ProcessStateSnapshot::now();
  }
  void end(std::string_view doing) const {
    if (state_ || Arithmetic::now() != before_) require_unchanged(doing);
  }

 private:
  void require_unchanged(std::string_view doing) const;
  const tmeter_call& call_;
  Arithmetic before_;
  std::optional<ProcessStateSnapshot> state_;
};

/// Runs `f` (a call into the plugin) and returns its status: OK or UNSUPPORTED. Scratch memory is
/// freed afterwards. Throws PluginError, or Error if the plugin reports that the model or the
/// user's options are to blame.
template <class F>
tmeter_status invoke(tmeter_call& call, std::string_view doing, F&& f) {
  const FrameScope frame(call);
  const PluginScope inside(call.plugin_id, doing);
  const ProcessStateCheck state_check(call);
  tmeter_status status = TMETER_OK;
  try {
    status = f(&call);
  } catch (...) {
    throw PluginError(call.plugin_id, std::string(doing), escaped_exception());
  }
  state_check.end(doing);
  if (std::atomic_ref(call.misused).load(std::memory_order_relaxed)) report_misuse(call, doing);
  const bool well = (status == TMETER_OK || status == TMETER_UNSUPPORTED) && !call.frame.defect;
  if (!well) require_success(call, status, doing);
  return status;
}

/// During its lifetime, `engine` runs code of the file. No effect if `engine` is empty.
class RunningFile {
 public:
  RunningFile(const CallLog* log, std::string_view engine)
      : sink_(log && !engine.empty() ? log->sink() : nullptr) {
    if (sink_) sink_->runs_file(engine);
  }
  ~RunningFile() {
    if (sink_) sink_->runs_file({});
  }
  RunningFile(const RunningFile&) = delete;
  RunningFile& operator=(const RunningFile&) = delete;

 private:
  HostSink* sink_;
};

/// For host callbacks: no exception crosses the border; its text is stored in the call. A fault of
/// this or another plugin fails the callback even if the callback ignores the returned status.
template <class F>
tmeter_status guard_callback(tmeter_call* call, F&& f) noexcept {
  if (!may_be_used(call)) return TMETER_INVALID_ARGUMENT;
  try {
    return f();
  } catch (const Error& e) {
    call->frame.error = e.what();
    if (e.kind() == ErrorKind::kPlugin) call->frame.defect = std::current_exception();
    switch (e.kind()) {
      case ErrorKind::kUsage:
        return TMETER_BAD_USAGE;
      case ErrorKind::kModel:
        return TMETER_BAD_MODEL;
      case ErrorKind::kRun:
        return TMETER_CANNOT_RUN;
      case ErrorKind::kInterrupted:
        return TMETER_CANCELLED;
      default:
        return TMETER_INTERNAL;
    }
  } catch (const std::bad_alloc&) {
    call->frame.error = out_of_memory_text();
    return TMETER_INTERNAL;
  } catch (const std::exception& e) {
    call->frame.error = e.what();
    return TMETER_INTERNAL;
  }
}

}  // namespace tmeter::core
