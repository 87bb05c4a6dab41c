#include "recording.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "node_view.hpp"
#include "ties.hpp"

namespace pt2 {
namespace {

// Repeated stack traces and strings are stored once. Models have as many different traces as their
// code has lines; these bounds keep a hostile file from growing the tables.
constexpr size_t kMaxTraces = 1 << 14, kMaxTraceBytes = 1 << 12, kMaxListLength = 64;
constexpr size_t kMaxValuesOfNode = std::numeric_limits<uint16_t>::max();

/// Kinds of arguments that are kept as JSON. They hold no tensors, which Uses would have to see.
constexpr std::array<std::string_view, 15> kJsonKinds{
    "as_device",    "as_string",    "as_layout",     "as_memory_format", "as_strings",
    "as_floats",    "as_bools",     "as_sym_int",    "as_sym_ints",      "as_sym_bool",
    "as_sym_bools", "as_sym_float", "as_sym_floats", "as_complex",       "as_int_lists"};

uint32_t index(size_t n) { return static_cast<uint32_t>(n); }

template <class T>
void append(std::string& key, const T& value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  key.append(bytes.data(), bytes.size());
}

/// The integers of a list; false if it holds something else or is long.
bool short_integers(json::element list, std::vector<int64_t>& out) {
  json::array items;
  if (list.get(items) != simdjson::SUCCESS || items.size() > kMaxListLength) return false;
  for (const json::element item : items)
    if (item.get(out.emplace_back()) != simdjson::SUCCESS) return false;
  return true;
}

/// False if the value is of another kind or malformed.
bool read_constant(std::string_view kind, json::element value, Constant& out) {
  using Kind = Constant::Kind;
  bool boolean = false;
  const auto as = [&](Kind of, bool read) { return out.kind = of, read; };
  out.number = 0, out.real = 0, out.numbers.clear();
  if (is(kind, "as_int")) return as(Kind::kInteger, value.get(out.number) == simdjson::SUCCESS);
  if (is(kind, "as_ints")) return as(Kind::kIntegers, short_integers(value, out.numbers));
  if (is(kind, "as_none")) return as(Kind::kNone, true);
  if (is(kind, "as_bool")) {
    if (value.get(boolean) != simdjson::SUCCESS) return false;
    out.number = boolean;
    return as(Kind::kBoolean, true);
  }
  if (is(kind, "as_float")) return as(Kind::kReal, value.get(out.real) == simdjson::SUCCESS);
  return is(kind, "as_scalar_type") &&
         as(Kind::kScalarType, value.get(out.number) == simdjson::SUCCESS);
}

}  // namespace

void Recording::add(json::array piece, size_t pieces, Uses& uses) {
  if (nodes.empty()) nodes.reserve(piece.size() * pieces);
  for (const json::element element : piece) {
    const auto number = nodes.size();
    auto view = view_node(element, number);
    modules_.read_stack(view, number);
    const auto values_before = values.size(), lists_before = lists.size();
    RecordedNode recorded;
    if (record(view, recorded)) {
      recorded.stack = view.stack_index;
      note_uses(recorded, uses);
    } else {
      values.resize(values_before);
      lists.resize(lists_before);
      has_subgraphs = has_subgraphs || view.target.starts_with("torch.ops.higher_order.");
      within([&] { return node_place(number, view.target); }, [&] { uses.read(view, modules_); });
      recorded = {RecordedNode::kJson, view.stack_index, 0, index(texts.size()), 0, 0};
      texts.push_back(texts_.keep(simdjson::minify(element)));
    }
    nodes.push_back(recorded);
  }
}

/// False if the node must be kept as JSON: it has a graph of its own, refers to names that the
/// graph does not describe, is malformed, or is too large.
bool Recording::record(const NodeView& node, RecordedNode& out) {
  if (node.target.find("higher_order") != std::string_view::npos) return false;
  if (node.inputs.size() > kMaxValuesOfNode || node.outputs.size() > kMaxValuesOfNode) return false;
  out.first = index(values.size());
  out.arguments = static_cast<uint16_t>(node.inputs.size());
  out.results = static_cast<uint16_t>(node.outputs.size());
  for (const json::element input : node.inputs)
    if (!record_argument(input)) return false;
  for (const json::element output : node.outputs)
    if (!record_value({}, output, Role::kResult)) return false;
  out.target = index_of_target(node.target);
  out.location = index_of_location(node.trace);
  return true;
}

bool Recording::record_argument(json::element input) {
  json::object object;
  if (input.get(object) != simdjson::SUCCESS) return false;
  std::string_view name;
  json::element value;
  bool has_value = false;
  for (const auto field : object) {
    if (is(field.key, "name")) {
      if (field.value.get(name) != simdjson::SUCCESS) return false;
    } else if (is(field.key, "arg")) {
      value = field.value;
      has_value = true;
    }
  }
  return has_value && record_value(name, value, Role::kArgument);
}

bool Recording::record_value(std::string_view name, json::element value, Role role) {
  json::object object;
  if (value.get(object) != simdjson::SUCCESS || object.size() != 1) return false;
  const auto [kind, content] = *object.begin();
  RecordedValue recorded;
  if (!index_of_name(name, recorded.name)) return false;
  if (is(kind, "as_tensor")) {
    recorded.kind = RecordedValue::Kind::kTensor;
    if (!find_tensor(content, role, recorded.at)) return false;
  } else if (is(kind, "as_tensors")) {
    recorded.kind = RecordedValue::Kind::kTensors;
    if (!record_tensors(content, role, recorded.at)) return false;
  } else if (role == Role::kResult && kind != "as_none") {
    return false;  // not always a new value
  } else if (read_constant(kind, content, constant_)) {
    recorded.at = index_of(constant_);
  } else if (kind == "as_ints" || kind == "as_float" ||
             std::ranges::find(kJsonKinds, kind) != kJsonKinds.end()) {
    recorded.kind = RecordedValue::Kind::kJson;
    recorded.at = index_of_json(value);
  } else {
    return false;
  }
  values.push_back(recorded);
  return true;
}

bool Recording::record_tensors(json::element list, Role role, uint32_t& at) {
  json::array items;
  if (list.get(items) != simdjson::SUCCESS) return false;
  at = index(lists.size());
  lists.push_back(0);
  for (const json::element item : items)
    if (!find_tensor(item, role, lists.emplace_back())) return false;
  lists[at] = index(lists.size() - at - 1);
  return true;
}

/// Tables and nodes have the same order. So an argument is mostly the latest result or the next
/// parameter, and a result the next name of the table.
bool Recording::find_tensor(json::element tensor, Role role, uint32_t& number) {
  json::object object;
  if (tensor.get(object) != simdjson::SUCCESS) return false;
  const auto member = find(object, "name");
  std::string_view name;
  if (!member || member->get(name) != simdjson::SUCCESS) return false;
  uint32_t entry = 0;
  if (role == Role::kResult) {
    entry = scope_.find_next(name, last_result_);
  } else if (last_result_ != 0 && scope_.is_named(last_result_ - 1, name)) {
    entry = last_result_;
  } else {
    auto last = last_input_;
    entry = scope_.find_next(name, last);
    if (entry <= inputs_) last_input_ = last;
  }
  number = entry - 1;
  return entry != 0;
}

void Recording::note_uses(const RecordedNode& node, Uses& uses) const {
  const auto module = modules_.module_of_stack(node.stack);
  const auto use = [&](uint32_t number) { uses.read(number, module); };
  for (const auto& value : std::span(values).subspan(node.first, node.arguments)) {
    if (value.kind == RecordedValue::Kind::kTensor) use(value.at);
    if (value.kind == RecordedValue::Kind::kTensors) std::ranges::for_each(list(value), use);
  }
}

std::string_view Recording::name_of_result(const RecordedValue& value) const {
  if (value.kind == RecordedValue::Kind::kTensor) return scope_.name_at(value.at);
  if (value.kind != RecordedValue::Kind::kTensors || list(value).empty()) return {};
  return scope_.name_at(list(value).front());
}

/// Equal constants share an index.
uint32_t Recording::index_of(const Constant& constant) {
  key_.assign(1, static_cast<char>(constant.kind));
  append(key_, constant.number);
  append(key_, constant.real);
  for (const auto n : constant.numbers) append(key_, n);
  const auto keep = [&](std::string_view key) { return texts_.keep(key); };
  const auto [position, added] = constant_index_.insert_kept(key_, index(constants.size()), keep);
  if (added) constants.push_back(constant);
  return *position;
}

uint32_t Recording::index_of_json(json::element value) {
  const auto keep = [&](std::string_view text) { return texts_.keep(text); };
  const auto [position, added] =
      json_index_.insert_kept(simdjson::minify(value), index(texts.size()), keep);
  if (added) texts.push_back(json_index_.entries().back().name);
  return *position;
}

uint32_t Recording::index_of_location(std::string_view trace) {
  if (trace.empty()) return 0;
  if (const auto* position = location_index_.find(trace)) return *position;
  const auto next = index(locations.size());
  locations.push_back(source_location(trace));
  if (location_index_.entries().size() < kMaxTraces && trace.size() <= kMaxTraceBytes)
    location_index_.insert(texts_.keep(trace), next);
  return next;
}

uint32_t Recording::index_of_target(std::string_view text) {
  if (const auto* position = target_index_.find(text)) return *position;
  text = texts_.keep(text);  // targets hold views into it
  const auto next = index(targets.size());
  target_index_.insert(text, next);
  targets.push_back({text, parse_target(text)});
  return next;
}

bool Recording::index_of_name(std::string_view text, uint16_t& out) {
  out = 0;
  if (text.empty()) return true;
  const auto* position = name_index_.find(text);
  if (!position && names.size() > std::numeric_limits<uint16_t>::max()) return false;
  if (!position) {
    text = texts_.keep(text);
    position = name_index_.insert(text, index(names.size())).first;
    names.push_back(text);
  }
  out = static_cast<uint16_t>(*position);
  return true;
}

}  // namespace pt2
