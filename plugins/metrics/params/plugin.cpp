// params: the number of elements that the model stores, by kind of tensor.
//
// One value per tensor, including tied ones: the host sums them for modules and the model, and
// counts each storage once. Constants of the graph (folded literals) are neither parameters nor
// buffers.
#include <algorithm>
#include <memory>
#include <optional>
#include <tmeter/cpp/plugin.hpp>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/wording.hpp"

namespace {

constexpr std::string_view kParams =
    "elements of the model's parameters, trainable and frozen; tied parameters count once; buffers "
    "and constants do not count";
constexpr std::string_view kTrainable =
    "elements of the parameters with requires_grad; tied parameters count once";
constexpr std::string_view kBuffers =
    "elements of the model's buffers (running statistics, masks, …); shared storage counts once; "
    "constants of the graph are neither parameters nor buffers";

constexpr std::string_view kBitsPerWeight =
    "bits of a parameter as stored, including scales and zero points of encodings, divided by its "
    "elements; for modules and the model, the mean weighted by elements";

/// Records whether all parameters of the last counted graph have one type: then bytes_by_type is
/// not needed.
struct LastCounted {
  const tmeter_graph* graph = nullptr;
  bool one_type = false;
};

/// Some element types pack several numbers into one stored element.
tmeter::Count numbers_of(const tmeter::Tensor& tensor) {
  switch (tensor.dtype().id()) {
    case TMETER_DTYPE_FLOAT4_E2M1FN_X2:
    case TMETER_DTYPE_QUINT4X2:
      return tensor.numel() * 2;
    case TMETER_DTYPE_QUINT2X4:
      return tensor.numel() * 4;
    default:
      return tensor.numel();
  }
}

void count_elements(const tmeter::Graph& graph, tmeter::Call& call, LastCounted& counted) {
  std::optional<std::string_view> type;
  counted = {graph.handle(), true};
  for (const auto& tensor : graph.tensors()) {
    const auto kind = tensor.kind();
    if (kind != TMETER_TENSOR_PARAMETER && kind != TMETER_TENSOR_BUFFER) continue;
    const size_t index = tensor.index();
    const auto elements = numbers_of(tensor);
    const auto emit = [&](std::string_view metric) {
      call.emit(metric, TMETER_AXIS_TENSOR, index, elements);
    };
    if (kind == TMETER_TENSOR_BUFFER) {
      emit("buffers");
      continue;
    }
    emit("params");
    if (tensor.trainable()) emit("params_trainable");
    const auto name = tensor.type_name();
    if (!type) type = name;
    counted.one_type = counted.one_type && name == *type && !tensor.is_encoded();
  }
}

struct TypeBytes {
  std::string_view name;  // dtype or encoding
  tmeter::Count bytes = 0, elements = 0;
};

/// The bytes of the parameters by type, largest first; tied parameters count once.
std::vector<TypeBytes> bytes_by_type(const tmeter::Graph& graph) {
  std::vector<TypeBytes> out;
  for (const auto& tensor : graph.tensors()) {
    if (!tensor.is_parameter() || tensor.is_tied()) continue;
    const auto name = tensor.type_name();
    auto at = std::find_if(out.begin(), out.end(), [&](auto& d) { return d.name == name; });
    if (at == out.end()) at = out.insert(out.end(), {name});
    at->bytes += tensor.bytes();
    at->elements += numbers_of(tensor);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return out;
}

std::string bits_text(tmeter::Count bytes, tmeter::Count elements) {
  const auto bits = 8 * static_cast<double>(bytes.value()) / static_cast<double>(elements.value());
  return tmeter::general(bits, 4) + " bits per weight";
}

bool any_encoded(const tmeter::Graph& graph) {
  const auto tensors = graph.tensors();
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& t) { return t.is_parameter() && t.is_encoded(); });
}

/// Reports types only if there are several, or an encoding; otherwise the dtype of any tensor
/// suffices.
void report_types(const tmeter::Graph& graph, tmeter::Call& call, const LastCounted& counted) {
  if (counted.graph == graph.handle() && counted.one_type) return;
  const auto types = bytes_by_type(graph);
  const bool encoded = any_encoded(graph);
  if (types.size() < 2 && !encoded) return;
  tmeter::Finding finding;
  finding.rule = "bytes-by-dtype";
  tmeter::Count bytes = 0, elements = 0;
  for (const auto& type : types) {
    bytes += type.bytes;
    elements += type.elements;
    finding.evidence += (finding.evidence.empty() ? "" : ", ") + std::string(type.name) + " " +
                        plugins::bytes_text(type.bytes);
  }
  const auto count = std::to_string(types.size());
  finding.text = "the parameters are stored in " + count +
                 (types.size() == 1 ? " type"
                  : encoded         ? " types"
                                    : " dtypes");
  if (encoded && elements > tmeter::Count(0)) finding.text += ": " + bits_text(bytes, elements);
  call.add(finding);
}

void measure_bits(const tmeter::Graph& graph, tmeter::Call& call) {
  for (const auto& tensor : graph.tensors()) {
    if (!tensor.is_parameter() || tensor.numel() == tmeter::Count(0)) continue;
    const auto bytes = tensor.stored_bytes();
    const auto elements = static_cast<double>(numbers_of(tensor).value());
    call.emit("bits_per_weight", TMETER_AXIS_TENSOR, tensor.index(),
              bytes ? tmeter::Cell(8 * static_cast<double>(bytes->value()) / elements)
                    : tmeter::Cell::unsupported());
  }
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
                     const auto counted = std::make_shared<LastCounted>();
                     r.configure([counted](tmeter::Call&) { *counted = {}; });
                     r.analysis("params", "", "params params_trainable buffers",
                                [counted](const tmeter::Graph& graph, tmeter::Call& call) {
                                  count_elements(graph, call, *counted);
                                });
                     r.metric({.id = "bits_per_weight",
                               .title = "bits per weight",
                               .unit = "bit",
                               .axis = TMETER_AXIS_TENSOR,
                               .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
                               .flags = TMETER_METRIC_ON_REQUEST,
                               .convention = kBitsPerWeight,
                               .weight = "params"});
                     r.analysis("bits per weight", "", "bits_per_weight", measure_bits);
                     r.analysis("dtypes", "", "",
                                [counted](const tmeter::Graph& graph, tmeter::Call& call) {
                                  report_types(graph, call, *counted);
                                });
                   })
