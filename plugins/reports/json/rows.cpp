#include "rows.hpp"

#include <algorithm>

#include "../common/names.hpp"

namespace json_report {
namespace {

using tmeter::Graph;
using tmeter::Module;
using tmeter::Node;
using tmeter::Tensor;

std::vector<int64_t> number_calls(const Graph& graph) {
  std::vector<int64_t> calls(graph.modules().size()), numbers;
  for (const auto& call : graph.module_calls()) numbers.push_back(++calls[call.module().index()]);
  return numbers;
}

int64_t signed_of(size_t n) { return static_cast<int64_t>(n); }

}  // namespace

RowWriter::RowWriter(Stream& stream, const tmeter::Report& report)
    : stream_(stream),
      report_(report),
      graph_(report.graph()),
      values_(report),
      value_writer_(graph_),
      call_numbers_(number_calls(graph_)) {}

template <class Items, class Row>
void RowWriter::section(std::string_view name, const Items& items, Row&& row) {
  stream_.line(kMemberIndent).key(name).open('[');
  for (size_t i = 0; i < items.size(); ++i) {
    stream_.line(kItemIndent).open('{');
    row(i, items[i]);
    stream_.close('}');
  }
  if (items.size() > 0) stream_.end_line(kMemberIndent);
  stream_.close(']');
}

void RowWriter::value_members(const tmeter::Value& value) {
  if (value.is_tensor()) return write_tensor_members(stream_, value);
  stream_.key("value");
  value_writer_.write(stream_, value, false);
}

void RowWriter::inputs() {
  section("inputs", graph_.inputs(), [this](size_t i, const tmeter::Value& value) {
    stream_.key("name").text(graph_.input_name(i));
    stream_.key("origin").text_or_null(graph_.input_origin(i));
    value_members(value);
  });
}

void RowWriter::outputs() {
  section("outputs", graph_.outputs(),
          [this](size_t, const tmeter::Value& value) { value_members(value); });
}

void RowWriter::modules() {
  section("modules", graph_.modules(), [this](size_t i, const Module& module) {
    enter(module);
    module_row(module);
    values_.write(stream_, TMETER_AXIS_MODULE, i);
  });
}

void RowWriter::nodes() {
  section("nodes", graph_.nodes(), [this](size_t i, const Node& node) {
    node_row(node);
    values_.write(stream_, TMETER_AXIS_NODE, i);
  });
}

void RowWriter::tensors() {
  section("tensors", graph_.tensors(), [this](size_t i, const Tensor& tensor) {
    tensor_row(tensor);
    values_.write(stream_, TMETER_AXIS_TENSOR, i);
  });
}

void RowWriter::module_path(const Module& module) {
  if (module)
    stream_.text(module.path());
  else
    stream_.null();
}

// Modules are in pre-order. Ids as tmeter::module_ids gives them, but of one branch at a time.
void RowWriter::enter(const Module& module) {
  const auto parent = module.parent();
  while (!branch_.empty() && branch_.back().index != parent.index()) branch_.pop_back();
  auto id = branch_.empty() ? "0" : child_id(branch_.size() - 1, ++branch_.back().children);
  branch_.push_back({module.index(), std::move(id), 0});
}

std::string RowWriter::child_id(size_t level, size_t number) const {
  return (level == 0 ? "" : branch_[level].id + ".") + std::to_string(number);
}

void RowWriter::module_row(const Module& module) {
  const auto level = branch_.size() - 1;
  stream_.key("id").text(branch_[level].id);
  stream_.key("path").text(module.path());
  stream_.key("name").text(module.name());
  stream_.key("type").text(module.type());
  stream_.key("qualified_type").text(module.qualified_type());
  stream_.key("text").text(report_.module_text(module));
  for (const char* key : {"kernel_size", "input_size", "output_size"})
    if (const auto fact = report_.fact(module, key); !fact.empty()) stream_.key(key).text(fact);
  stream_.key("calls").integer(signed_of(module.calls()));
  stream_.key("parent").text_or_null(level > 0 ? branch_[level - 1].id : std::string());
  stream_.key("children").open('[');
  for (size_t i = 0; i < module.child_count(); ++i) stream_.text(child_id(level, i + 1));
  stream_.close(']');
  if (const auto repeat = report_.repeat(module)) {
    stream_.key("repeat").open('{');
    stream_.key("window").integer(signed_of(repeat.window));
    stream_.key("times").integer(signed_of(repeat.times)).close('}');
  }
  if (module.attribute_count() > 0) attributes(module);
}

void RowWriter::attributes(const Module& module) {
  stream_.key("attributes").open('{');
  for (size_t i = 0; i < module.attribute_count(); ++i) {
    stream_.key(module.attribute_name(i));
    value_writer_.write(stream_, module.attribute(i), false);
  }
  stream_.close('}');
}

void RowWriter::node_row(const Node& node) {
  const auto call = node.call();
  stream_.key("index").integer(signed_of(node.index()));
  stream_.key("op").text(node.op());
  stream_.key("overload").text(node.overload());
  stream_.key("module");
  module_path(call ? call.module() : Module());
  if (call && call.module().calls() > 1) stream_.key("call").integer(call_numbers_[call.index()]);
  if (!node.location().empty()) stream_.key("location").text(node.location());
  arguments(node);
  stream_.key("results").open('[');
  for (size_t i = 0; i < node.result_count(); ++i)
    value_writer_.write(stream_, node.result(i), false);
  stream_.close(']');
}

// By schema name; one that has none, or one that another has, too, is called by its position.
void RowWriter::arguments(const Node& node) {
  std::vector<std::string_view> used;
  stream_.key("arguments").open('{');
  for (size_t i = 0; i < node.arg_count(); ++i) {
    const auto name = node.arg_name(i);
    const bool taken = std::find(used.begin(), used.end(), name) != used.end();
    stream_.key(name.empty() || taken ? "#" + std::to_string(i) : std::string(name));
    used.push_back(name);
    value_writer_.write(stream_, node.arg(i), true);
  }
  stream_.close('}');
}

void RowWriter::tensor_row(const Tensor& tensor) {
  stream_.key("index").integer(signed_of(tensor.index()));
  stream_.key("name").text(tensor.name());
  stream_.key("kind").text(reports::tensor_kind_name(tensor.kind()));
  stream_.key("dtype").text(tensor.dtype().name());
  write_shape(stream_.key("shape"), tensor.shape());
  stream_.key("numel").integer(tensor.numel().value());
  stream_.key("trainable").boolean(tensor.trainable());
  stream_.key("owner");
  module_path(tensor.owner());
  if (tensor.is_tied()) stream_.key("tied_to").text(tensor.canonical().name());
}

}  // namespace json_report
