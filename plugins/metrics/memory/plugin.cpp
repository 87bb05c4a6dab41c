// memory: bytes stored (parameters, buffers) and bytes moved per operator.
#include <memory>
#include <tmeter/cpp/node_class.hpp>

#include "peak.hpp"
#include "plugins/common/options.hpp"
#include "traffic.hpp"

namespace {

using memory::Traffic;
using tmeter::Cell;
using tmeter::Count;

constexpr std::string_view kParamBytes =
    "bytes of the parameters as stored; tied parameters count once (as torchmeter's Param_Cost)";
constexpr std::string_view kBufferBytes =
    "bytes of the buffers as stored; constants of the graph do not count (as torchmeter's "
    "Buffer_Cost)";
constexpr std::string_view kOutputBytes =
    "bytes of the tensors an operator newly materialises; views and in-place operators make none; "
    "reshape and flatten are taken as views (torchmeter's Output_Cost counts whole modules "
    "instead)";
constexpr std::string_view kTorchstatOutput =
    "torchstat: bytes of an operator's results, those that it changes in place included; views "
    "make none (torchstat's memory counts whole modules, and of several calls the last)";
constexpr std::string_view kReadBytes =
    "bytes of the distinct tensors an operator reads, weights included, each once; look-ups read "
    "the rows they pick and their indices; views, creation and conversions that change nothing "
    "read 0 (torchstat's MemRead counts weights once per batch item instead)";
constexpr std::string_view kWrittenBytes =
    "bytes an operator writes: its results, or the tensor it changes in place; views write 0 (as "
    "torchstat's MemWrite)";
constexpr std::string_view kTrafficBytes = "read_bytes + written_bytes (as torchstat's MemR+W)";

using Part = std::optional<Count> Traffic::*;

Cell part_of(const tmeter::Node& node, Part part, const tmeter::Call& call) {
  const auto& traffic = memory::traffic_of(node, call);
  if (traffic.nothing) return Cell::zero_by_rule();
  const auto& bytes = traffic.*part;
  if (!bytes) return Cell::unsupported();
  return *bytes == Count(0) ? Cell::zero_by_rule() : Cell(*bytes);
}

/// The value of a node, or of a module call that another plugin answers.
template <class Place>
Cell traffic_at(const Place& place, const tmeter::Call& call) {
  const auto read = call.read("read_bytes", place), written = call.read("written_bytes", place);
  for (const auto& cell : {read, written})
    if (!cell.known() && !cell.empty()) return Cell::unsupported();  // empty: it does not apply
  const double bytes = read.real() + written.real();
  if (bytes == 0) return Cell::zero_by_rule();
  const Cell sum(Count(static_cast<int64_t>(bytes)));
  return read.partial() || written.partial() ? sum.as_partial() : sum;
}

void sum_stored(const tmeter::Graph& graph, tmeter::Call& call) {
  for (const auto& tensor : graph.tensors()) {
    const auto kind = tensor.kind();
    if (kind != TMETER_TENSOR_PARAMETER && kind != TMETER_TENSOR_BUFFER) continue;
    const std::string_view metric =
        kind == TMETER_TENSOR_PARAMETER ? "param_bytes" : "buffer_bytes";
    const auto bytes = tensor.stored_bytes();
    call.emit(metric, TMETER_AXIS_TENSOR, tensor.index(),
              bytes ? Cell(*bytes) : Cell::unsupported());
  }
}

void register_all(tmeter::Registrar& r) {
  const auto metric = [&r](std::string_view id, std::string_view title, int32_t axis,
                           uint32_t flags, std::string_view convention) {
    r.metric({.id = id,
              .title = title,
              .unit = "B",
              .unit_kind = TMETER_UNIT_BYTE,
              .axis = axis,
              .flags = flags,
              .convention = convention});
  };
  constexpr auto kDetail = TMETER_METRIC_DETAIL;
  metric("param_bytes", "param mem", TMETER_AXIS_TENSOR, 0, kParamBytes);
  metric("buffer_bytes", "buffer mem", TMETER_AXIS_TENSOR, kDetail, kBufferBytes);
  metric("output_bytes", "output mem", TMETER_AXIS_NODE, 0, kOutputBytes);
  metric("read_bytes", "read", TMETER_AXIS_NODE, kDetail, kReadBytes);
  metric("written_bytes", "written", TMETER_AXIS_NODE, kDetail, kWrittenBytes);
  metric("traffic_bytes", "traffic", TMETER_AXIS_NODE, kDetail | TMETER_METRIC_ON_REQUEST,
         kTrafficBytes);

  const auto highest = [&r](std::string_view id, std::string_view title, std::string_view text) {
    r.metric({.id = id,
              .title = title,
              .unit = "B",
              .unit_kind = TMETER_UNIT_BYTE,
              .aggregation = TMETER_AGGREGATE_MAX,
              .flags = kDetail,
              .convention = text});
  };
  highest(memory::kPeak, "peak mem", memory::kPeakConvention);
  highest(memory::kPredictedPeak, "predicted peak", memory::kPredictedPeakConvention);
  highest(memory::kPredictedWorkspace, "predicted workspace",
          memory::kPredictedWorkspaceConvention);
  r.option(plugins::integer_option(
      "threads", "-1", -1, 1024,
      "predicted_peak_bytes is predicted for a run on this number of threads, which "
      "--inference sets; 0: not at all; -1: 1 up to 10,000 operators, else 0"));
  r.option(plugins::integer_option(
      "channel-block", "16", 1, 64,
      "channels per block in the CPU's convolutions: 16 with AVX-512, 8 with AVX2"));

  r.option(plugins::choice_option(
      "convention", "new torchstat",
      "output_bytes are those of new tensors (new), or of the tensors that an operator "
      "changes in place, too (torchstat); peaks do not depend on it"));

  const auto output = std::make_shared<Part>(&Traffic::output);
  r.configure([output](tmeter::Call& call) {
    memory::forget_traffic();
    const bool in_place = memory::counts_in_place(call);
    *output = in_place ? &Traffic::results : &Traffic::output;
    call.set_convention("output_bytes", in_place ? kTorchstatOutput : kOutputBytes);
  });
  r.analysis("stored", "", "param_bytes buffer_bytes", sum_stored);
  r.analysis("peak", "output_bytes", memory::kPeak, memory::find_peak);
  r.analysis("predicted-peak", "output_bytes", "predicted_peak_bytes predicted_workspace_bytes",
             memory::predict_peak);
  r.handlers_by_signature();
  const auto handle = [&r](std::string_view id, Part part) {
    r.op("*").handle(id, [part](const tmeter::Node& node, tmeter::Call& call) {
      return part_of(node, part, call);
    });
  };
  r.op("*").handle("output_bytes", [output](const tmeter::Node& node, tmeter::Call& call) {
    return part_of(node, *output, call);
  });
  handle("read_bytes", &Traffic::read);
  handle("written_bytes", &Traffic::written);
  r.op("*").handle("traffic_bytes", traffic_at<tmeter::Node>);
  r.module_type(
      "*", "traffic_bytes",
      [](const tmeter::Graph&, const tmeter::ModuleCall& m, tmeter::Call& call) {
        return traffic_at(m, call);
      },
      0, "read_bytes written_bytes");
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.memory",
        .version = "1.0.0",
        .description = "Bytes stored, and bytes read, written and allocated per operator",
    }),
    [](tmeter::Registrar& r) { register_all(r); })
