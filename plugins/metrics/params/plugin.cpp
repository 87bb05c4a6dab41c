// params: how many elements the model stores, by kind of tensor.
//
// One figure per tensor, tied ones included: the host adds them up to modules and model and counts
// each storage once. Constants of the graph (folded literals) are neither parameters nor buffers.
#include <algorithm>
#include <memory>
#include <optional>
#include <tmeter/cpp/plugin.hpp>
#include <tmeter/cpp/units.hpp>

namespace {

constexpr std::string_view kParams =
    "elements of the model's parameters, trainable and frozen; tied parameters count once; buffers "
    "and constants do not count";
constexpr std::string_view kTrainable =
    "elements of the parameters with requires_grad; tied parameters count once";
constexpr std::string_view kBuffers =
    "elements of the model's buffers (running statistics, masks, …); shared storage counts once; "
    "constants of the graph are neither parameters nor buffers";

/// Whether all parameters that were counted last are of one dtype: then no second look is needed.
struct Counted {
  const tmeter_graph* graph = nullptr;
  bool one_dtype = false;
};

void count_elements(const tmeter::Graph& graph, tmeter::Call& call, Counted& counted) {
  std::optional<tmeter::DType> dtype;
  counted = {graph.handle(), true};
  for (const auto& tensor : graph.tensors()) {
    const auto kind = tensor.kind();
    if (kind != TMETER_TENSOR_PARAMETER && kind != TMETER_TENSOR_BUFFER) continue;
    const size_t index = tensor.index();
    const auto elements = tensor.numel();
    const auto emit = [&](std::string_view metric) {
      call.emit(metric, TMETER_AXIS_TENSOR, index, elements);
    };
    if (kind == TMETER_TENSOR_BUFFER) {
      emit("buffers");
      continue;
    }
    emit("params");
    if (tensor.trainable()) emit("params_trainable");
    if (!dtype) dtype = tensor.dtype();
    counted.one_dtype = counted.one_dtype && tensor.dtype() == *dtype;
  }
}

struct DTypeBytes {
  tmeter::DType dtype;
  int64_t bytes = 0;
};

/// What the parameters take per dtype, most first; tied ones once.
std::vector<DTypeBytes> bytes_by_dtype(const tmeter::Graph& graph) {
  std::vector<DTypeBytes> out;
  for (const auto& tensor : graph.tensors()) {
    if (!tensor.is_parameter() || tensor.is_tied()) continue;
    const auto dtype = tensor.dtype();
    auto at = std::find_if(out.begin(), out.end(), [&](auto& d) { return d.dtype == dtype; });
    if (at == out.end()) at = out.insert(out.end(), {dtype, 0});
    at->bytes = (tmeter::Count(at->bytes) + tensor.bytes()).value();
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return out;
}

/// Only where there is more than one: else the dtype of any tensor says it all.
void tell_dtypes(const tmeter::Graph& graph, tmeter::Call& call, const Counted& counted) {
  if (counted.graph == graph.handle() && counted.one_dtype) return;
  const auto dtypes = bytes_by_dtype(graph);
  if (dtypes.size() < 2) return;
  tmeter::Finding finding;
  finding.rule = "bytes-by-dtype";
  finding.text = "the parameters are stored in " + std::to_string(dtypes.size()) + " dtypes";
  for (const auto& [dtype, bytes] : dtypes)
    finding.evidence += (finding.evidence.empty() ? "" : ", ") + std::string(dtype.name()) + " " +
                        tmeter::scaled(static_cast<double>(bytes), TMETER_UNIT_BYTE, "B").text();
  call.add(finding);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.params",
                       .version = "1.0.0",
                       .description = "Parameters and buffers: element counts",
                   }),
                   [](tmeter::Registrar& r) {
                     const auto count = [&r](std::string_view id, std::string_view title,
                                             uint32_t flags, std::string_view convention) {
                       r.metric({.id = id,
                                 .title = title,
                                 .axis = TMETER_AXIS_TENSOR,
                                 .flags = flags,
                                 .convention = convention});
                     };
                     count("params", "params", 0, kParams);
                     count("params_trainable", "trainable", TMETER_METRIC_DETAIL, kTrainable);
                     count("buffers", "buffers", TMETER_METRIC_DETAIL, kBuffers);
                     const auto counted = std::make_shared<Counted>();
                     r.configure([counted](tmeter::Call&) { *counted = {}; });
                     r.analysis("params", "", "params params_trainable buffers",
                                [counted](const tmeter::Graph& graph, tmeter::Call& call) {
                                  count_elements(graph, call, *counted);
                                });
                     r.analysis("dtypes", "", "",
                                [counted](const tmeter::Graph& graph, tmeter::Call& call) {
                                  tell_dtypes(graph, call, *counted);
                                });
                   })
