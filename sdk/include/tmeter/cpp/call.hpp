// Call: options, log, metrics and hardware, available to a plugin while the host is inside it.
#pragma once
#include <optional>

#include "count.hpp"
#include "distribution.hpp"
#include "finding.hpp"
#include "graph.hpp"

TMETER_SDK_BEGIN

/// The memory of an operator's result.
struct ResultMemory {
  int32_t kind = TMETER_MEMORY_UNKNOWN;
  size_t argument = 0;  ///< index of the node's argument, if it is that argument's
  /// A view of an argument, or the argument itself.
  bool of_argument() const { return kind == TMETER_MEMORY_VIEW || kind == TMETER_MEMORY_ARGUMENT; }
};

class Call {
 public:
  explicit Call(tmeter_call* h) : h_(h) {}
  tmeter_call* handle() const { return h_; }

  void debug(std::string_view m) const { detail::call_api().log(h_, TMETER_LOG_DEBUG, to_abi(m)); }
  void info(std::string_view m) const { detail::call_api().log(h_, TMETER_LOG_INFO, to_abi(m)); }
  /// Becomes part of every report.
  void warn(std::string_view m) const { detail::call_api().log(h_, TMETER_LOG_WARNING, to_abi(m)); }
  /// For callbacks that return a status: reports the reason and returns `status`. Needs no
  /// exceptions.
  tmeter_status refuse(tmeter_status status, std::string_view why) const {
    detail::call_api().fail(h_, to_abi(why));
    return status;
  }
  /// The current work, for the message about a crash or a time-out; cheap (call.h).
  void at(std::string_view what) const { detail::call_api().at(h_, to_abi(what)); }
  /// The graph of this run; in handlers, analyses and `configure`.
  Graph graph() const { return Graph(detail::call_api().graph(h_)); }
  /// Progress of long work: `done` of `total` (0: unknown) in `unit` ("B", "operators").
  void progress(uint64_t done, uint64_t total, std::string_view unit) const {
    detail::call_api().progress(h_, done, total, to_abi(unit));
  }
  bool cancelled() const { return detail::call_api().cancelled(h_) != 0; }

  // The plugin's own options (declared with Registrar::option).
  std::string_view option_text(std::string_view key) const {
    tmeter_str s{};
    check(detail::call_api().option_text(h_, to_abi(key), &s));
    return to_view(s);
  }
  int64_t option_int(std::string_view key) const {
    int64_t v = 0;
    check(detail::call_api().option_int(h_, to_abi(key), &v));
    return v;
  }
  double option_float(std::string_view key) const {
    double v = 0;
    check(detail::call_api().option_float(h_, to_abi(key), &v));
    return v;
  }
  bool option_bool(std::string_view key) const {
    int32_t v = 0;
    check(detail::call_api().option_bool(h_, to_abi(key), &v));
    return v != 0;
  }

  // Metrics.
  Cell read(std::string_view metric, int32_t axis, size_t index) const {
    tmeter_number n{};
    const auto status = detail::results_api().read(h_, to_abi(metric), axis, index, &n);
    if (status == TMETER_UNSUPPORTED) return Cell::unsupported();
    check(status);
    return Cell(n);
  }
  /// Another metric at the same node, e.g. "macs" while computing "flops".
  Cell read(std::string_view metric, const Node& node) const {
    return read(metric, TMETER_AXIS_NODE, node.index());
  }
  /// Another metric of a module call with everything inside; `by_module` if a module handler gave
  /// it.
  Cell read(std::string_view metric, const ModuleCall& call) const {
    return read(metric, TMETER_AXIS_MODULE_CALL, call.index());
  }
  /// The class of work, "matmul", that a plugin gives to the node's operator; empty: none does.
  /// node_class.hpp has the class of all operators.
  std::string_view work_of(const Node& node) const {
    tmeter_str name{};
    check(detail::results_api().op_class(h_, node.handle(), &name));
    return to_view(name);
  }
  /// Follows the schema of the operator's shape rule, else its name and class; unknown otherwise,
  /// and on hosts that predate this function.
  ResultMemory memory_of(const Node& node, size_t result) const {
    ResultMemory out;
    const auto& api = detail::results_api();
    if (TMETER_IS_SET(&api, tmeter_results_api, result_memory))
      check(api.result_memory(h_, node.handle(), result, &out.kind, &out.argument));
    return out;
  }
  /// Whether the operator writes into an argument; empty: unknown.
  std::optional<bool> writes(const Node& node, size_t argument) const {
    const auto& api = detail::results_api();
    if (!TMETER_IS_SET(&api, tmeter_results_api, argument_written)) return std::nullopt;
    int32_t written = 0;
    const auto status = api.argument_written(h_, node.handle(), argument, &written);
    if (status == TMETER_UNSUPPORTED) return std::nullopt;
    check(status);
    return written != 0;
  }
  void emit(std::string_view metric, int32_t axis, size_t index, Cell value) const {
    check(detail::results_api().emit_at(h_, to_abi(metric), axis, index, value.abi()));
  }
  void set_convention(std::string_view metric, std::string_view text) const {
    check(detail::results_api().set_convention(h_, to_abi(metric), to_abi(text)));
  }
  void set_provenance(std::string_view metric, int32_t provenance, std::string_view text) const {
    check(detail::results_api().set_provenance(h_, to_abi(metric), provenance, to_abi(text)));
  }

  /// Adds a finding to the report; only while an analysis runs.
  void add(const Finding& finding) const {
    const auto f = finding.abi();
    check(detail::findings_api().add(h_, &f));
  }

  /// Adds a histogram or a curve; in analyses and in TensorAnalysis::emit.
  void add(const Distribution& distribution) const {
    const auto d = distribution.abi();
    check(detail::distributions_api().add(h_, &d));
  }
  void add(const Series& series) const {
    const auto s = series.abi();
    check(detail::distributions_api().add_series(h_, &s));
  }

  // The hardware profile chosen with --hardware.
  std::string_view hardware_name() const { return to_view(detail::hardware_api().name(h_)); }
  std::string_view hardware_title() const { return to_view(detail::hardware_api().title(h_)); }
  /// False: the profile does not have the number.
  bool hardware_number(std::string_view key, double& value) const {
    tmeter_str source{};
    const auto status = detail::hardware_api().number(h_, to_abi(key), &value, &source);
    if (status == TMETER_UNAVAILABLE) return false;
    check(status);
    return true;
  }

 private:
  tmeter_call* h_;
};

namespace detail {

/// Runs plugin code for the host. No exception crosses the border, and every failure has a text.
template <class F>
tmeter_status guarded(tmeter_call* call, F&& f) noexcept {
#ifdef __cpp_exceptions
  const auto fail = [call](const char* text) {
    if (call) call_api().fail(call, to_abi(text));
  };
  try {
    return f();
  } catch (const Reported& e) {
    return e.status();
  } catch (const Error& e) {
    fail(e.what());
    return e.status();
  } catch (const std::bad_alloc&) {
    fail("out of memory");
  } catch (const std::exception& e) {
    fail(e.what());
  } catch (...) {
    fail("an exception of unknown type");
  }
  return TMETER_INTERNAL;
#else
  return static_cast<void>(call), f();
#endif
}

}  // namespace detail
TMETER_SDK_END
