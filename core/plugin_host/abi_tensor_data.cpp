// tmeter.host.tensor-data/1: elements of tensors, in any order.
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/signature_escape.hpp"
#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {
namespace {

constexpr int64_t kMaxCopied = int64_t{64} << 20;  // bytes, as tensor_data.h promises

/// Throws Error(kPlugin) when the address is not that of a tensor of the graph.
const Tensor& tensor_of(const tmeter_call* call, const tmeter_tensor* handle) {
  const auto* t = from_handle(handle);
  if (call->run.graph && !call->run.graph->has(t))
    throw Error(ErrorKind::kPlugin,
                "it requests the elements of a tensor that the graph does not have");
  return *t;
}

std::string_view unavailable(const tmeter_call* call, const Tensor& t) {
  SignatureEscape::note();
  return call->run.tensors ? call->run.tensors->unavailable(t)
                           : "elements are not readable in this kind of call";
}

tmeter_str why_unavailable(tmeter_call* call, const tmeter_tensor* handle) {
  tmeter_str why{};
  guard_callback(call, [&]() -> tmeter_status {
    return why = to_abi(unavailable(call, tensor_of(call, handle))), TMETER_OK;
  });
  return why;
}

tmeter_status view_elements(tmeter_call* call, const tmeter_tensor* handle, int64_t first,
                            int64_t count, tmeter_bytes* out) {
  return guard_callback(call, [&]() -> tmeter_status {
    const auto& t = tensor_of(call, handle);
    const auto name = [&] { return "tensor '" + printable(t.name) + "'"; };
    if (const auto why = unavailable(call, t); !why.empty()) {
      call->frame.error = "the elements of " + name() + " cannot be read: " + std::string(why);
      return TMETER_UNAVAILABLE;
    }
    const bool inside = first >= 0 && count >= 0 && first <= t.numel && count <= t.numel - first;
    if (!inside || count > kMaxCopied / element_bytes(t.dtype)) {
      call->frame.error = "elements outside " + name() + ", or too many at once";
      return TMETER_INVALID_ARGUMENT;
    }
    const auto bytes = call->run.tensors->view(t, first, count, call->frame.elements);
    *out = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
    return TMETER_OK;
  });
}

}  // namespace

const tmeter_tensor_data_api* tensor_data_interface() {
  static const tmeter_tensor_data_api api{sizeof(tmeter_tensor_data_api), 0, why_unavailable,
                                          view_elements};
  return &api;
}

}  // namespace tmeter::core
