#include "rows.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <thread>
#include <tmeter/cpp/vocabulary.hpp>

#include "blocks.hpp"

namespace json_report {
namespace {

using tmeter::Graph;
using tmeter::Module;
using tmeter::Node;
using tmeter::Tensor;

std::vector<size_t> number_calls(const Graph& graph) {
  std::vector<size_t> calls(graph.modules().size()), numbers;
  for (const auto& call : graph.module_calls()) numbers.push_back(++calls[call.module().index()]);
  return numbers;
}

std::vector<size_t> number_children(const Graph& graph) {
  std::vector<size_t> children(graph.modules().size()), numbers;
  for (const auto& module : graph.modules()) {
    const auto parent = module.parent();
    numbers.push_back(parent ? ++children[parent.index()] : 0);
  }
  return numbers;
}

int64_t signed_of(size_t n) { return static_cast<int64_t>(n); }

}  // namespace

/// Writers of blocks of rows as text: one for the thread that writes the report, one for a helper.
struct RowWriter::Makers {
  struct Maker {
    explicit Maker(const RowWriter& like) : rows(like, text) {}
    Stream text;
    RowWriter rows;
  };
  explicit Makers(const RowWriter& like) : own(like), other(like) {}
  Maker own, other;
  std::array<Stream, BlockOrder::kAlive> made;
};

RowWriter::Lookup::Lookup(const tmeter::Report& report)
    : calls(number_calls(report.graph())),
      children(number_children(report.graph())),
      findings(report) {}

RowWriter::RowWriter(Stream& stream, const tmeter::Report& report)
    : stream_(stream),
      report_(report),
      graph_(report.graph()),
      values_(report),
      value_writer_(graph_),
      calls_have_values_(values_.has_metrics_on(TMETER_AXIS_MODULE_CALL)),
      lookup_(std::make_shared<Lookup>(report)) {}

RowWriter::RowWriter(const RowWriter& like, Stream& stream)
    : stream_(stream),
      report_(like.report_),
      graph_(like.graph_),
      values_(like.values_),
      value_writer_(like.graph_),
      calls_have_values_(like.calls_have_values_),
      lookup_(like.lookup_) {}

RowWriter::~RowWriter() = default;

template <class Items, class Write>
void RowWriter::section(std::string_view name, const Items& items, Write&& write) {
  stream_.member(name).open('[');
  write_rows(items, 0, items.size(), write);
  if (items.size() > 0) stream_.end_line(reports::kMemberIndent);
  stream_.close(']');
}

template <class Items, class Write>
void RowWriter::write_rows(const Items& items, size_t begin, size_t end, Write&& write) {
  for (size_t i = begin; i < end; ++i) {
    stream_.line(reports::kItemIndent).open('{');
    write(i, items[i]);
    stream_.close('}');
  }
}

/// Rows that are independent of each other; two threads share large sections.
template <class Items, class Item>
void RowWriter::large_section(std::string_view name, const Items& items, Row<Item> row) {
  constexpr size_t kMinRows = 384, kMinBlockRows = 128, kMaxBlockRows = 512;
  stream_.member(name).open('[');
  if (items.size() < kMinRows || std::thread::hardware_concurrency() < 2)
    write_rows(items, 0, items.size(), std::bind_front(row, this));
  else
    write_blocks(items, std::clamp(items.size() / 8, kMinBlockRows, kMaxBlockRows), row);
  if (items.size() > 0) stream_.end_line(reports::kMemberIndent);
  stream_.close(']');
}

/// A helper thread makes blocks, and this one does whenever the next block to hand over is not
/// ready. If no thread can be started, this one makes all.
template <class Items, class Item>
void RowWriter::write_blocks(const Items& items, size_t block_rows, Row<Item> row) {
  if (!makers_) makers_ = std::make_unique<Makers>(*this);
  BlockOrder order((items.size() + block_rows - 1) / block_rows);
  const auto make = [&](Makers::Maker& maker, size_t block) {
    const size_t begin = block * block_rows, end = std::min(begin + block_rows, items.size());
    maker.text.start();
    maker.rows.write_rows(items, begin, end, std::bind_front(row, &maker.rows));
    std::swap(maker.text, makers_->made[block % BlockOrder::kAlive]);
    order.made(block);
  };
  auto other = std::async([&] {
    try {
      while (const auto block = order.take()) make(makers_->other, *block);
    } catch (...) {
      order.stop();
      throw;
    }
  });
  const BlockOrder::Stop when_left(order);  // before `other` is waited for
  while (const auto step = order.next_step()) {
    if (!step->is_made) {
      make(makers_->own, step->block);
      continue;
    }
    stream_.items(makers_->made[step->block % BlockOrder::kAlive].made());
    order.handed_over();
  }
  other.get();
}

void RowWriter::value_members(const tmeter::Value& value, bool with_origin) {
  if (value.is_tensor()) return value_writer_.write_members(stream_, value, with_origin);
  stream_.key("value");
  value_writer_.write(stream_, value, with_origin);
  if (value_writer_.has_detail(value, with_origin))
    value_writer_.write_detail(stream_.key("detail"), value, with_origin);
}

void RowWriter::inputs() {
  section("inputs", graph_.inputs(), [this](size_t i, const tmeter::Value& value) {
    stream_.key("name").text(graph_.input_name(i));
    stream_.key("origin").text_or_null(graph_.input_origin(i));
    value_members(value, false);
  });
}

void RowWriter::outputs() {
  section("outputs", graph_.outputs(),
          [this](size_t, const tmeter::Value& value) { value_members(value, true); });
}

void RowWriter::modules() { large_section("modules", graph_.modules(), &RowWriter::module_row); }

void RowWriter::module_calls() {
  large_section("module_calls", graph_.module_calls(), &RowWriter::module_call_row);
}

// A call has values if a metric states them or a module handler gave them; others follow from its
// operators.
void RowWriter::module_call_row(size_t i, const tmeter::ModuleCall& call) {
  stream_.key("module").integer(signed_of(call.module().index()));
  if (const auto parent = call.parent()) stream_.key("parent").integer(signed_of(parent.index()));
  if (calls_have_values_ || values_.any_by_module(TMETER_AXIS_MODULE_CALL, i))
    values_.write(stream_, TMETER_AXIS_MODULE_CALL, i);
}

void RowWriter::nodes() { large_section("nodes", graph_.nodes(), &RowWriter::node_row); }

void RowWriter::tensors() { large_section("tensors", graph_.tensors(), &RowWriter::tensor_row); }

void RowWriter::findings(int32_t axis, size_t index) {
  const auto& places = lookup_->findings.of(axis, index);
  if (places.empty()) return;
  stream_.key("findings").open('[');
  for (const auto place : places) stream_.integer(signed_of(place));
  stream_.close(']');
}

void RowWriter::module_path(const Module& module) {
  if (module)
    stream_.text(module.path());
  else
    stream_.null();
}

// Computes the ids of tmeter::module_ids for one branch at a time, because blocks of rows are
// independent. Keeps the levels shared with the previous branch.
void RowWriter::enter(const Module& module) {
  std::vector<Module> missing;
  auto above = module.parent();
  for (; above; above = above.parent()) {
    while (!branch_.empty() && branch_.back().index > above.index()) branch_.pop_back();
    if (!branch_.empty() && branch_.back().index == above.index()) break;
    missing.push_back(above);
  }
  if (!above) branch_.clear();
  std::for_each(missing.rbegin(), missing.rend(), [this](const Module& m) { push(m); });
  push(module);
}

void RowWriter::push(const Module& module) {
  auto id = branch_.empty() ? "0" : child_id(branch_.size() - 1, lookup_->children[module.index()]);
  branch_.push_back({module.index(), std::move(id)});
}

std::string RowWriter::child_id(size_t level, size_t number) const {
  return (level == 0 ? "" : branch_[level].id + ".") + std::to_string(number);
}

void RowWriter::module_row(size_t i, const Module& module) {
  enter(module);
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
  findings(TMETER_AXIS_MODULE, i);
  values_.write(stream_, TMETER_AXIS_MODULE, i);
}

// Most operators have a few arguments, which are compared faster than hashed.
bool RowWriter::is_new(std::string_view name) {
  constexpr size_t kMaxScannedNames = 32;
  if (many_used_.empty() && used_.size() < kMaxScannedNames) {
    if (std::find(used_.begin(), used_.end(), name) != used_.end()) return false;
    used_.push_back(name);
    return true;
  }
  if (many_used_.empty()) many_used_.insert(used_.begin(), used_.end());
  return many_used_.insert(name).second;
}

// An empty or repeated name is replaced by the position: "#3".
std::string_view RowWriter::key_of(std::string_view name, size_t position) {
  if (!name.empty() && !name.starts_with('#') && is_new(name)) return name;
  return numbered_ = "#" + std::to_string(position);
}

template <class Name, class At>
void RowWriter::named_values(const Names& names, size_t count, Name&& name, At&& at,
                             bool with_origin) {
  std::vector<std::pair<std::string, tmeter::Value>> detailed;  // by key
  used_.clear();
  if (!many_used_.empty()) many_used_.clear();
  stream_.key(std::string_view(names.values)).open('{');
  for (size_t i = 0; i < count; ++i) {
    const auto key = key_of(name(i), i);
    const auto value = at(i);
    value_writer_.write(stream_.key(key), value, with_origin);
    if (value_writer_.has_detail(value, with_origin)) detailed.emplace_back(key, value);
  }
  stream_.close('}');
  if (detailed.empty()) return;
  stream_.key(std::string_view(names.details)).open('{');
  for (const auto& [key, value] : detailed)
    value_writer_.write_detail(stream_.key(key), value, with_origin);
  stream_.close('}');
}

void RowWriter::attributes(const Module& module) {
  named_values(
      {"attributes", "attribute_details"}, module.attribute_count(),
      [&](size_t i) { return module.attribute_name(i); },
      [&](size_t i) { return module.attribute(i); }, false);
}

void RowWriter::node_row(size_t i, const Node& node) {
  const auto call = node.call();
  stream_.key("index").integer(signed_of(node.index()));
  stream_.key("op").text(node.op());
  stream_.key("overload").text(node.overload());
  stream_.key("module");
  module_path(call ? call.module() : Module());
  if (call && call.module().calls() > 1)
    stream_.key("call").integer(signed_of(lookup_->calls[call.index()]));
  if (!node.location().empty()) stream_.key("location").text(node.location());
  if (!node.name().empty()) stream_.key("name").text(node.name());
  if (call) stream_.key("module_call").integer(signed_of(call.index()));
  arguments(node);
  results(node);
  if (const auto parameters = reports::parameters_of(node); parameters > 0)
    stream_.key("parameters").integer(parameters);
  findings(TMETER_AXIS_NODE, i);
  values_.write(stream_, TMETER_AXIS_NODE, i);
}

void RowWriter::arguments(const Node& node) {
  named_values(
      {"arguments", "details"}, node.arg_count(), [&](size_t i) { return node.arg_name(i); },
      [&](size_t i) { return node.arg(i); }, true);
}

void RowWriter::results(const Node& node) {
  stream_.key("results").open('[');
  size_t details = 0;  // items of "result_details": up to the last result with one
  for (size_t i = 0; i < node.result_count(); ++i) {
    value_writer_.write(stream_, node.result(i), false);
    if (value_writer_.has_detail(node.result(i), false)) details = i + 1;
  }
  stream_.close(']');
  if (details == 0) return;
  stream_.key("result_details").open('[');
  for (size_t i = 0; i < details; ++i) {
    const auto value = node.result(i);
    if (value_writer_.has_detail(value, false))
      value_writer_.write_detail(stream_, value, false);
    else
      stream_.null();
  }
  stream_.close(']');
}

/// How an encoded tensor is stored.
void RowWriter::encoding(const Tensor& tensor) {
  const auto s = tensor.storage();
  if (s.encoding.len == 0) return;
  stream_.key("encoding").open('{').key("id").text(tmeter::to_view(s.encoding));
  stream_.key("parameters").text_or_null(tmeter::to_view(s.parameters));
  const auto write_positive = [&](int64_t n) { n > 0 ? stream_.integer(n) : stream_.null(); };
  stream_.key("block_elements"), write_positive(s.block_elements);
  stream_.key("block_bytes"), write_positive(s.block_bytes);
  stream_.key("stored_dtype").text(tmeter::DType(s.stored_dtype).name());
  stream_.key("stored_bytes");
  s.stored_bytes >= 0 ? stream_.integer(s.stored_bytes) : stream_.null();
  stream_.key("parts").open('[');
  for (uint32_t i = 0; i < s.part_count; ++i) {
    const auto part = tensor.part(i);
    stream_.open('{').key("role").text(part.role()).key("name").text(part.name());
    stream_.key("dtype").text(part.dtype().name());
    write_shape(stream_.key("shape"), part.shape());
    stream_.key("bytes").integer(part.bytes()).close('}');
  }
  stream_.close(']').close('}');
}

void RowWriter::tensor_row(size_t i, const Tensor& tensor) {
  stream_.key("index").integer(signed_of(tensor.index()));
  stream_.key("name").text(tensor.name());
  stream_.key("kind").text(tmeter::vocabulary::kTensorKinds.word(tensor.kind()));
  stream_.key("dtype").text(tensor.dtype().name());
  write_shape(stream_.key("shape"), tensor.shape());
  stream_.key("numel").integer(tensor.numel().value());
  stream_.key("trainable").boolean(tensor.trainable());
  stream_.key("owner");
  module_path(tensor.owner());
  if (tensor.is_tied()) stream_.key("tied_to").text(tensor.canonical().name());
  encoding(tensor);
  findings(TMETER_AXIS_TENSOR, i);
  values_.write(stream_, TMETER_AXIS_TENSOR, i);
}

}  // namespace json_report
