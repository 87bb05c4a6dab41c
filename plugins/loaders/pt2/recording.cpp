#include "recording.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "../common/json_text.hpp"
#include "source_location.hpp"
#include "ties.hpp"

namespace pt2 {
namespace {

// Distinct stack traces whose lines are kept, so that they need not be looked for again: models
// have as many as their code has lines, whatever the number of their nodes. What is kept beside the
// file stays small whatever it holds: longer ones, and longer lists of numbers, are looked at each
// time.
constexpr size_t kMostTraces = 1 << 14, kLongestTrace = 1 << 12, kLongestList = 64;
constexpr size_t kMostInNode = std::numeric_limits<uint16_t>::max();

uint32_t small(size_t n) { return static_cast<uint32_t>(n); }

template <class T>
void append(std::string& key, const T& value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  key.append(bytes.data(), bytes.size());
}

}  // namespace

NodeView& NodeDocument::parse(std::string_view text, size_t number) {
  std::string list;
  list.reserve(text.size() + 2 + simdjson::SIMDJSON_PADDING);
  list.append("[").append(text).append("]");
  json::element root;
  const auto error = loading::parse_json(list, parser_, root);
  views_ = view_nodes(as_array(loading::require_json(error, root)), number);
  return views_.at(0);
}

void Recording::Piece::begin(const PlainNodes& nodes, const NodeNumbers& numbers_of_them) {
  plain = &nodes;
  numbers = &numbers_of_them;
  targets.assign(numbers->targets.size(), kNew);
  locations.assign(numbers->traces.size(), kNew);
  names.assign(numbers->names.size(), kNew);
  constants.assign(numbers->constants.size(), kNew);
}

/// As if all pieces were like the first.
void Recording::reserve(const PlainNodes& plain, size_t pieces) {
  nodes.reserve(plain.nodes.size() * pieces);
  values.reserve(plain.values.size() * pieces);
}

void Recording::add(const PlainNodes& plain, const NodeNumbers& numbers, size_t number,
                    size_t pieces, Uses& uses) {
  if (nodes.empty()) reserve(plain, pieces);
  piece_.begin(plain, numbers);
  for (size_t i = 0; i < plain.nodes.size(); ++i, ++number) {
    const auto& node = plain.nodes[i];
    const auto values_before = values.size();
    RecordedNode recorded;
    if (!node.is_unusual && record(i, recorded)) {
      within([&] { return node_place(number, node.target); },
             [&] { recorded.stack = modules_.stack_of(node.stack); });
      note_uses(recorded, uses);
    } else {
      values.resize(values_before);
      auto& view = document_.parse(node.text, number);
      branches = branches || view.target.starts_with("torch.ops.higher_order.");
      modules_.read_stack(view, number);
      uses.read(view, modules_);
      recorded = {RecordedNode::kUnusual, view.stack_index, 0, small(texts.size()), 0, 0};
      texts.push_back(node.text);
    }
    nodes.push_back(recorded);
  }
}

void Recording::note_uses(const RecordedNode& node, Uses& uses) const {
  const auto module = modules_.module_of_stack(node.stack);
  const auto use = [&](uint32_t number) { uses.read(number, module); };
  for (const auto& value : std::span(values).subspan(node.first, node.arguments)) {
    if (value.kind == RecordedValue::Kind::kTensor) use(value.at);
    if (value.kind == RecordedValue::Kind::kTensors) std::ranges::for_each(list(value), use);
  }
}

std::string_view Recording::name_of_result(const RecordedValue& value, const Scope& scope) const {
  if (value.kind == RecordedValue::Kind::kTensor) return scope.name_at(value.at);
  if (value.kind != RecordedValue::Kind::kTensors || list(value).empty()) return {};
  return scope.name_at(list(value).front());
}

/// False when it is to be read as a document: it speaks of names that have yet to be defined, or is
/// too large.
bool Recording::record(size_t i, RecordedNode& out) {
  const auto& node = piece_.plain->nodes[i];
  if (node.arguments > kMostInNode || node.results > kMostInNode) return false;
  out.first = small(values.size());
  out.arguments = static_cast<uint16_t>(node.arguments);
  out.results = static_cast<uint16_t>(node.results);
  for (size_t n = 0; n < node.arguments; ++n)
    if (!record_value(node.first_argument + n)) return false;
  for (size_t n = 0; n < node.results; ++n)
    if (!record_value(node.first_result + n)) return false;
  const auto& numbers = piece_.numbers->nodes[i];
  auto& target = piece_.targets[numbers.target];
  if (target == kNew) target = target_of(node.target);
  auto& location = piece_.locations[numbers.trace];
  if (location == kNew) location = location_of(node.trace);
  out.target = target;
  out.location = location;
  return true;
}

bool Recording::record_value(size_t index) {
  const auto& value = piece_.plain->values[index];
  const auto& numbers = piece_.numbers->values[index];
  RecordedValue recorded;
  if (!name_of(numbers.name, recorded.name)) return false;
  const bool is_long = value.kind == PlainValue::Kind::kIntegers && value.count > kLongestList;
  switch (is_long ? PlainValue::Kind::kText : value.kind) {
    case PlainValue::Kind::kTensor:
      recorded.kind = RecordedValue::Kind::kTensor;
      if (numbers.at == 0) return false;
      recorded.at = numbers.at - 1;
      break;
    case PlainValue::Kind::kTensors:
      recorded.kind = RecordedValue::Kind::kTensors;
      if (!record_tensors(value, recorded.at)) return false;
      break;
    case PlainValue::Kind::kText:
      recorded.kind = RecordedValue::Kind::kText;
      recorded.at = small(texts.size());
      texts.push_back(value.text);
      break;
    default:
      recorded.at = constant(numbers.at);
  }
  values.push_back(recorded);
  return true;
}

bool Recording::record_tensors(const PlainValue& value, uint32_t& at) {
  at = small(lists.size());
  lists.push_back(small(value.count));
  for (const auto entry : std::span(piece_.numbers->tensors).subspan(value.first, value.count)) {
    if (entry == 0) return false;
    lists.push_back(entry - 1);
  }
  return true;
}

uint32_t Recording::constant(uint32_t number) {
  auto& known = piece_.constants[number];
  const auto& plain = *piece_.plain;
  if (known == kNew) known = constant(plain, plain.values[piece_.numbers->constants[number]]);
  return known;
}

/// Equal ones are one.
uint32_t Recording::constant(const PlainNodes& plain, const PlainValue& value) {
  const auto numbers = std::span(plain.numbers).subspan(value.first, value.count);
  key_.assign(1, static_cast<char>(value.kind));
  append(key_, value.number);
  append(key_, value.real);
  for (const auto n : numbers) append(key_, n);
  if (const auto* known = constant_index_.find(key_)) return *known;
  const auto index = small(constants.size());
  constants.push_back({value.kind, value.number, value.real, {numbers.begin(), numbers.end()}});
  constant_index_.insert(texts_.keep(key_), index);
  return index;
}

uint32_t Recording::location_of(std::string_view trace) {
  if (trace.empty()) return 0;
  if (const auto* known = location_index_.find(trace)) return *known;
  unescape(trace, trace_);
  const auto index = small(locations.size());
  locations.push_back(source_location(trace_));
  if (location_index_.entries().size() < kMostTraces && trace.size() <= kLongestTrace)
    location_index_.insert(texts_.keep(trace), index);
  return index;
}

uint32_t Recording::target_of(std::string_view text) {
  if (const auto* known = target_index_.find(text)) return *known;
  text = texts_.keep(text);  // targets have a view into it
  const auto index = small(targets.size());
  target_index_.insert(text, index);
  targets.push_back({text, parse_target(text)});
  return index;
}

bool Recording::name_of(uint32_t number, uint16_t& index) {
  auto& known = piece_.names[number];
  if (known == kNew) {
    if (!name_of(piece_.numbers->names[number], index)) return false;
    known = index;
  }
  index = static_cast<uint16_t>(known);
  return true;
}

bool Recording::name_of(std::string_view text, uint16_t& index) {
  if (text.empty()) return index = 0, true;
  if (const auto* known = name_index_.find(text))
    return index = static_cast<uint16_t>(*known), true;
  if (names.size() > std::numeric_limits<uint16_t>::max()) return false;
  text = texts_.keep(text);
  index = static_cast<uint16_t>(names.size());
  name_index_.insert(text, index);
  names.push_back(text);
  return true;
}

}  // namespace pt2
