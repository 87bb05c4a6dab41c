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

void Recording::add(const PlainNodes& plain, size_t number, Uses& uses) {
  for (const auto& node : plain.nodes) {
    const auto values_before = values.size();
    RecordedNode recorded;
    if (!node.is_unusual && record(plain, node, recorded)) {
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
    ++number;
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
bool Recording::record(const PlainNodes& plain, const PlainNode& node, RecordedNode& out) {
  if (node.arguments > kMostInNode || node.results > kMostInNode) return false;
  out.first = small(values.size());
  out.arguments = static_cast<uint16_t>(node.arguments);
  out.results = static_cast<uint16_t>(node.results);
  for (size_t i = 0; i < node.arguments; ++i)
    if (!record(plain, plain.values[node.first_argument + i], false)) return false;
  for (size_t i = 0; i < node.results; ++i)
    if (!record(plain, plain.values[node.first_result + i], true)) return false;
  out.target = target_of(node.target);
  out.location = location_of(node.trace);
  return true;
}

bool Recording::record(const PlainNodes& plain, const PlainValue& value, bool is_result) {
  RecordedValue recorded;
  if (!name_of(value.name, recorded.name)) return false;
  const bool is_long = value.kind == PlainValue::Kind::kIntegers && value.count > kLongestList;
  switch (is_long ? PlainValue::Kind::kText : value.kind) {
    case PlainValue::Kind::kTensor:
      recorded.kind = RecordedValue::Kind::kTensor;
      if (!find_number(value.text, is_result, recorded.at)) return false;
      break;
    case PlainValue::Kind::kTensors:
      recorded.kind = RecordedValue::Kind::kTensors;
      if (!record_tensors(plain, value, is_result, recorded.at)) return false;
      break;
    case PlainValue::Kind::kText:
      recorded.kind = RecordedValue::Kind::kText;
      recorded.at = small(texts.size());
      texts.push_back(value.text);
      break;
    default:
      recorded.at = constant(plain, value);
  }
  values.push_back(recorded);
  return true;
}

bool Recording::record_tensors(const PlainNodes& plain, const PlainValue& value, bool is_result,
                               uint32_t& at) {
  at = small(lists.size());
  lists.push_back(small(value.count));
  for (size_t i = 0; i < value.count; ++i) {
    uint32_t number = 0;
    if (!find_number(plain.names[value.first + i], is_result, number)) return false;
    lists.push_back(number);
  }
  return true;
}

/// Most that is used is what has been made last, or a parameter, and those come in their order.
bool Recording::find_number(std::string_view name, bool is_result, uint32_t& number) {
  uint32_t entry = 0;
  if (is_result) {
    entry = scope_.find_next(name, last_result_);
    if (first_result_ == 0) first_result_ = entry;
  } else if (last_result_ != 0 && scope_.is_named(last_result_ - 1, name)) {
    entry = last_result_;
  } else {
    auto last = last_used_;
    entry = scope_.find_next(name, last);
    if (first_result_ == 0 || last < first_result_) last_used_ = last;
  }
  number = entry - 1;
  return entry != 0;
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
