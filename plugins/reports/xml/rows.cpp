#include "rows.hpp"

#include <array>
#include <tmeter/cpp/module_ids.hpp>
#include <tmeter/cpp/vocabulary.hpp>

#include "../common/columns.hpp"

namespace xml_report {

using tmeter::Module;
using tmeter::Node;
using tmeter::Tensor;

RowWriter::RowWriter(Stream& stream, const tmeter::Report& report)
    : stream_(stream),
      report_(report),
      graph_(report.graph()),
      metrics_(reports::all_metrics(report)),
      values_(graph_),
      ids_(tmeter::module_ids(graph_)) {}

void RowWriter::figures(int32_t axis, size_t index) {
  for (const auto& m : metrics_) write_figure(stream_, m, report_.cell(m, axis, index));
}

void RowWriter::inputs() {
  stream_.open("inputs");
  const auto inputs = graph_.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    stream_.open("input").attribute("name", graph_.input_name(i));
    stream_.optional("origin", graph_.input_origin(i));
    values_.write(stream_, inputs[i], false);
    stream_.close();
  }
  stream_.close();
}

void RowWriter::outputs() {
  stream_.open("outputs");
  for (const auto& value : graph_.outputs()) {
    stream_.open("output");
    values_.write(stream_, value, false);
    stream_.close();
  }
  stream_.close();
}

void RowWriter::modules() {
  stream_.open("modules");
  for (const auto& module : graph_.modules()) module_row(module);
  stream_.close();
}

void RowWriter::module_row(const Module& module) {
  const auto parent = module.parent();
  stream_.open("module").attribute("id", ids_[module.index()]).attribute("path", module.path());
  stream_.attribute("name", module.name()).attribute("type", module.type());
  stream_.attribute("qualified-type", module.qualified_type());
  stream_.attribute("calls", module.calls());
  if (parent) stream_.attribute("parent", ids_[parent.index()]);
  stream_.optional("text", report_.module_text(module));
  constexpr std::array<std::array<std::string_view, 2>, 3> kFacts{{{"kernel_size", "kernel-size"},
                                                                   {"input_size", "input-size"},
                                                                   {"output_size", "output-size"}}};
  for (const auto& [key, name] : kFacts) stream_.optional(name, report_.fact(module, key));
  if (const auto repeat = report_.repeat(module))
    stream_.attribute("repeat-window", repeat.window).attribute("repeat-times", repeat.times);
  for (size_t i = 0; i < module.attribute_count(); ++i) {
    stream_.open("attribute").attribute("name", module.attribute_name(i));
    values_.write(stream_, module.attribute(i), false);
    stream_.close();
  }
  figures(TMETER_AXIS_MODULE, module.index());
  stream_.close();
}

void RowWriter::nodes() {
  stream_.open("nodes");
  for (const auto& node : graph_.nodes()) node_row(node);
  stream_.close();
}

void RowWriter::node_row(const Node& node) {
  stream_.open("node").attribute("index", node.index()).attribute("op", node.op());
  stream_.optional("overload", node.overload());
  if (const auto call = node.call()) stream_.attribute("module", call.module().path());
  stream_.optional("location", node.location());
  for (size_t i = 0; i < node.arg_count(); ++i) {
    stream_.open("argument").optional("name", node.arg_name(i));
    values_.write(stream_, node.arg(i), true);
    stream_.close();
  }
  for (size_t i = 0; i < node.result_count(); ++i) {
    stream_.open("result");
    values_.write(stream_, node.result(i), false);
    stream_.close();
  }
  figures(TMETER_AXIS_NODE, node.index());
  stream_.close();
}

void RowWriter::tensors() {
  stream_.open("tensors");
  for (const auto& tensor : graph_.tensors()) tensor_row(tensor);
  stream_.close();
}

void RowWriter::tensor_row(const Tensor& tensor) {
  stream_.open("tensor").attribute("index", tensor.index()).attribute("name", tensor.name());
  stream_.attribute("kind", tmeter::vocabulary::kTensorKinds.word(tensor.kind()));
  stream_.attribute("dtype", tensor.dtype().name()).attribute("shape", spaced(tensor.shape()));
  stream_.attribute("numel", tensor.numel().value());
  stream_.attribute("trainable", tensor.trainable() ? "true" : "false");
  if (const auto owner = tensor.owner()) stream_.attribute("owner", owner.path());
  if (tensor.is_tied()) stream_.attribute("tied-to", tensor.canonical().name());
  stream_.optional("encoding", tensor.encoding());
  stream_.optional("encoding-parameters", tmeter::to_view(tensor.storage().parameters));
  figures(TMETER_AXIS_TENSOR, tensor.index());
  stream_.close();
}

}  // namespace xml_report
