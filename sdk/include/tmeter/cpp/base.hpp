// Text, errors and access to the host: what every other header of the C++ wrapper rests on.
//
// The wrapper is thin, header-only and stateless but for the host table remembered at `init`.
// Everything lives in `tmeter::inline sdk_v1` with hidden visibility, so that two SDK versions can
// be in one process. Exceptions never leave a plugin: the trampolines turn them into `fail`.
#pragma once
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

/// What a plugin throws: a status and one sentence (what, where, what to do).
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

inline void check(tmeter_status status) {
  if (status != TMETER_OK) throw Reported(status);
}

namespace detail {

/// The host of this plugin, set by init(). One per shared library thanks to hidden visibility.
inline const tmeter_host_v1*& host() {
  static const tmeter_host_v1* host = nullptr;
  return host;
}

/// A host interface; throws when the host is too old to have it.
template <class Api>
const Api& interface_of(const Api*& cache, const char* id) {
  if (!cache) {
    const auto* h = host();
    cache = h ? static_cast<const Api*>(h->get_interface(to_abi(id))) : nullptr;
    if (!cache) throw Error(TMETER_INTERNAL, std::string("this host has no interface ") + id);
  }
  return *cache;
}

inline const tmeter_call_api& call_api() {
  static const tmeter_call_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_CALL);
}
inline const tmeter_graph_api& graph_api() {
  static const tmeter_graph_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_GRAPH);
}
inline const tmeter_builder_api& builder_api() {
  static const tmeter_builder_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_BUILDER);
}
inline const tmeter_source_api& source_api() {
  static const tmeter_source_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_SOURCE);
}
inline const tmeter_request_api& request_api() {
  static const tmeter_request_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_REQUEST);
}
inline const tmeter_results_api& results_api() {
  static const tmeter_results_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_RESULTS);
}
inline const tmeter_findings_api& findings_api() {
  static const tmeter_findings_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_FINDINGS);
}
inline const tmeter_hardware_api& hardware_api() {
  static const tmeter_hardware_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_HARDWARE);
}
inline const tmeter_report_api& report_api() {
  static const tmeter_report_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_REPORT);
}
inline const tmeter_output_api& output_api() {
  static const tmeter_output_api* cache = nullptr;
  return interface_of(cache, TMETER_HOST_OUTPUT);
}

}  // namespace detail
TMETER_SDK_END
