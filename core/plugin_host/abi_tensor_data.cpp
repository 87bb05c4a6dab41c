// tmeter.host.tensor-data/1: the numbers inside tensors, out of order.
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/looked_beyond.hpp"
#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {
namespace {

constexpr int64_t kMostCopied = int64_t{64} << 20;  // bytes, as tensor_data.h promises

std::string_view unavailable(const tmeter_call* call, const Tensor& t) {
  look_beyond();
  return call->run.tensors ? call->run.tensors->unavailable(t)
                           : "numbers are not read in this kind of call";
}

tmeter_status view_elements(tmeter_call* call, const tmeter_tensor* handle, int64_t first,
                            int64_t count, tmeter_bytes* out) {
  const auto& t = *from_handle(handle);
  if (const auto why = unavailable(call, t); !why.empty()) {
    call->frame.error = "the numbers of tensor '" + std::string(t.name) + "' cannot be read: ";
    call->frame.error += why;
    return TMETER_UNAVAILABLE;
  }
  const bool inside = first >= 0 && count >= 0 && first <= t.numel && count <= t.numel - first;
  if (!inside || count > kMostCopied / element_bytes(t.dtype)) {
    call->frame.error =
        "elements outside tensor '" + std::string(t.name) + "', or too many at once";
    return TMETER_INVALID_ARGUMENT;
  }
  const auto bytes = call->run.tensors->view(t, first, count, call->frame.elements);
  *out = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  return TMETER_OK;
}

}  // namespace

const tmeter_tensor_data_api* tensor_data_interface() {
  static const tmeter_tensor_data_api api{sizeof(tmeter_tensor_data_api), 0,
                                          [](tmeter_call* call, const tmeter_tensor* t) {
                                            return to_abi(unavailable(call, *from_handle(t)));
                                          },
                                          view_elements};
  return &api;
}

}  // namespace tmeter::core
