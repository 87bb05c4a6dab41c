// Text, errors and access to the host: the base of all other headers of the C++ wrapper.
//
// The wrapper is thin, header-only and stateless except for the host table stored at `init`.
// Everything lives in `tmeter::inline sdk_v1` with hidden visibility, so that two SDK versions can
// be in one process. Exceptions never leave a plugin: the trampolines turn them into `fail`.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "../abi/tmeter.h"

#define TMETER_SDK_BEGIN                                   \
  namespace tmeter __attribute__((visibility("hidden"))) { \
    inline namespace sdk_v1 {
#define TMETER_SDK_END \
  }                    \
  }

TMETER_SDK_BEGIN

inline std::string_view to_view(tmeter_str s) {
  return s.ptr ? std::string_view(s.ptr, s.len) : std::string_view();
}
inline tmeter_str to_abi(std::string_view s) { return {s.data(), s.size()}; }

/// A plugin's exception: a status and one sentence (the defect, its place, the remedy).
class Error : public std::runtime_error {
 public:
  Error(tmeter_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  explicit Error(const std::string& message) : Error(TMETER_INTERNAL, message) {}
  tmeter_status status() const { return status_; }

 private:
  tmeter_status status_;
};

/// Thrown when the host has already recorded the error text: carries only the status.
class Reported : public Error {
 public:
  explicit Reported(tmeter_status status) : Error(status, {}) {}
};

namespace detail {

/// Throws. A plugin built with -fno-exceptions has no way back to the host from here: the message
/// goes to standard error and the process ends. The host reports both with the plugin's name, and
/// continues without it.
template <class E>
[[noreturn]] void raise(const E& e) {
#ifdef __cpp_exceptions
  throw e;
#else
  std::fprintf(stderr, "%s\n", *e.what() ? e.what() : "a function of the host failed");
  std::abort();
#endif
}

}  // namespace detail

inline void check(tmeter_status status) {
  if (status != TMETER_OK) detail::raise(Reported(status));
}

namespace detail {

/// The host of this plugin, set by init(). One per shared library thanks to hidden visibility.
inline const tmeter_host_v1*& host() {
  static const tmeter_host_v1* host = nullptr;
  return host;
}

/// A host interface. Throws if the host is too old to have it.
template <class Api>
const Api& interface_of(const char* id) {
  const auto* h = host();
  const auto* api = h ? static_cast<const Api*>(h->get_interface(h, to_abi(id))) : nullptr;
  if (!api) detail::raise(Error(TMETER_INTERNAL, std::string("this host has no interface ") + id));
  return *api;
}

inline const tmeter_call_api& call_api() {
  static const auto& api = interface_of<tmeter_call_api>(TMETER_HOST_CALL);
  return api;
}
inline const tmeter_graph_api& graph_api() {
  static const auto& api = interface_of<tmeter_graph_api>(TMETER_HOST_GRAPH);
  return api;
}
inline const tmeter_builder_api& builder_api() {
  static const auto& api = interface_of<tmeter_builder_api>(TMETER_HOST_BUILDER);
  return api;
}
inline const tmeter_source_api& source_api() {
  static const auto& api = interface_of<tmeter_source_api>(TMETER_HOST_SOURCE);
  return api;
}
inline const tmeter_request_api& request_api() {
  static const auto& api = interface_of<tmeter_request_api>(TMETER_HOST_REQUEST);
  return api;
}
inline const tmeter_results_api& results_api() {
  static const auto& api = interface_of<tmeter_results_api>(TMETER_HOST_RESULTS);
  return api;
}
inline const tmeter_findings_api& findings_api() {
  static const auto& api = interface_of<tmeter_findings_api>(TMETER_HOST_FINDINGS);
  return api;
}
inline const tmeter_hardware_api& hardware_api() {
  static const auto& api = interface_of<tmeter_hardware_api>(TMETER_HOST_HARDWARE);
  return api;
}
inline const tmeter_tensor_data_api& tensor_data_api() {
  static const auto& api = interface_of<tmeter_tensor_data_api>(TMETER_HOST_TENSOR_DATA);
  return api;
}
inline const tmeter_distributions_api& distributions_api() {
  static const auto& api = interface_of<tmeter_distributions_api>(TMETER_HOST_DISTRIBUTIONS);
  return api;
}
inline const tmeter_report_api& report_api() {
  static const auto& api = interface_of<tmeter_report_api>(TMETER_HOST_REPORT);
  return api;
}
inline const tmeter_output_api& output_api() {
  static const auto& api = interface_of<tmeter_output_api>(TMETER_HOST_OUTPUT);
  return api;
}

}  // namespace detail
TMETER_SDK_END
