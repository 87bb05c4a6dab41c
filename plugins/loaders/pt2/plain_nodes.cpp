#include "plain_nodes.hpp"

#include <algorithm>

#include "json_util.hpp"

namespace pt2 {
namespace {

/// Kinds of arguments without tensors in them that are read as documents.
constexpr std::array<std::string_view, 15> kOthers{
    "as_device",    "as_string",    "as_layout",     "as_memory_format", "as_strings",
    "as_floats",    "as_bools",     "as_sym_int",    "as_sym_ints",      "as_sym_bool",
    "as_sym_bools", "as_sym_float", "as_sym_floats", "as_complex",       "as_int_lists"};

/// True the first time.
bool once(unsigned& found, unsigned bit) {
  const bool first = (found & bit) == 0;
  found |= bit;
  return first;
}

/// {"name": "linear_3"}
bool tensor_name(PlainText& text, std::string_view& out) {
  std::string_view key;
  return text.take('{') && text.key(key) && is(key, "name") && text.text(out) && text.take('}');
}

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

bool PlainNodes::read(std::string_view piece) {
  nodes.clear();
  values.clear();
  names.clear();
  numbers.clear();
  PlainText text(piece);
  do {
    if (!node(text)) return false;
  } while (text.take(','));
  return text.is_done();
}

bool PlainNodes::node(PlainText& text) {
  const char* const begin = text.at();
  // The text is fetched from memory some nodes before it is read.
  constexpr size_t kSoon = 2048, kUsualSize = 1024, kLine = 64;
  for (size_t at = kSoon; at < kSoon + kUsualSize; at += kLine) __builtin_prefetch(begin + at);
  const auto values_before = values.size(), names_before = names.size(),
             numbers_before = numbers.size();
  PlainNode node;
  node.is_unusual = !members(text, node);
  if (node.is_unusual) {
    values.resize(values_before);
    names.resize(names_before);
    numbers.resize(numbers_before);
    text.go_to(begin);
    if (!text.skip()) return false;
  }
  node.text = between(begin, text.at());
  nodes.push_back(node);
  return true;
}

bool PlainNodes::members(PlainText& text, PlainNode& node) {
  unsigned found = 0;
  const auto member = [&](std::string_view key) {
    if (is(key, "target")) return once(found, 1) && text.text(node.target);
    if (is(key, "inputs")) {
      node.first_argument = values.size();
      const bool read = once(found, 2) && text.list([&] { return argument(text); });
      node.arguments = values.size() - node.first_argument;
      return read;
    }
    if (is(key, "outputs")) {
      node.first_result = values.size();
      const bool read = once(found, 4) && text.list([&] { return result(text); });
      node.results = values.size() - node.first_result;
      return read;
    }
    if (is(key, "metadata")) return once(found, 8) && metadata(text, node);
    if (is(key, "name")) return once(found, 16) && text.skip();
    return is(key, "is_hop_single_tensor_return") && once(found, 32) && text.skip();
  };
  return text.object(member) && (found & 7) == 7 &&
         node.target.find("higher_order") == std::string_view::npos;
}

bool PlainNodes::metadata(PlainText& text, PlainNode& node) {
  SeenKeys keys;
  return text.object([&](std::string_view key) {
    if (!keys.add(key)) return false;
    if (is(key, "nn_module_stack")) return text.text(node.stack);
    if (is(key, "stack_trace")) return text.escaped(node.trace);
    return text.skip();
  });
}

bool PlainNodes::argument(PlainText& text) {
  const char* const begin = text.at();
  PlainValue made;
  if (!usual_argument(text, made)) {
    text.go_to(begin);
    made = {};
    if (!any_argument(text, made)) return false;
  }
  values.push_back(made);
  return true;
}

/// A tensor or an integer, to the letter as Python's json writes it: most arguments are.
bool PlainNodes::usual_argument(PlainText& text, PlainValue& value) {
  if (!text.exactly("{\"name\": ") || !text.text(value.name) || !text.exactly(", \"arg\": {\"as_"))
    return false;
  if (text.exactly("tensor\": {\"name\": ")) {
    value.kind = Kind::kTensor;
    if (!text.text(value.text) || !text.exactly("}}, \"kind\": 1")) return false;
  } else {
    value.kind = Kind::kInteger;
    if (!text.exactly("int\": ") || !text.integer(value.number) || !text.exactly("}, \"kind\": 1"))
      return false;
  }
  return text.take('}');
}

bool PlainNodes::any_argument(PlainText& text, PlainValue& made) {
  unsigned found = 0;
  int64_t ignored = 0;
  const auto member = [&](std::string_view key) {
    if (is(key, "name")) return once(found, 1) && text.text(made.name);
    if (is(key, "arg")) return once(found, 2) && value(text, made);
    return is(key, "kind") && once(found, 4) && text.integer(ignored);
  };
  return text.object(member) && (found & 2) != 0;
}

/// What a node makes: of other kinds not everything is a new value.
bool PlainNodes::result(PlainText& text) {
  PlainValue made;
  if (!value(text, made)) return false;
  values.push_back(made);
  return made.kind == Kind::kTensor || made.kind == Kind::kTensors || made.kind == Kind::kNone;
}

bool PlainNodes::value(PlainText& text, PlainValue& value) {
  const char* const begin = text.at();
  std::string_view kind;
  if (!text.take('{') || !text.key(kind) || !value_of_kind(text, kind, value) || !text.take('}'))
    return false;
  if (value.kind == Kind::kText || value.kind == Kind::kIntegers)
    value.text = between(begin, text.at());
  return true;
}

bool PlainNodes::tensors(PlainText& text, PlainValue& value) {
  value.first = names.size();
  const bool read = text.list([&] { return tensor_name(text, names.emplace_back()); });
  value.count = names.size() - value.first;
  return read;
}

bool PlainNodes::value_of_kind(PlainText& text, std::string_view kind, PlainValue& value) {
  const auto as = [&](Kind of, bool read) { return value.kind = of, read; };
  if (is(kind, "as_tensor")) return as(Kind::kTensor, tensor_name(text, value.text));
  if (is(kind, "as_int")) return as(Kind::kInteger, text.integer(value.number));
  if (is(kind, "as_ints")) {
    value.first = numbers.size();
    const bool read = text.list([&] { return text.integer(numbers.emplace_back()); });
    value.count = numbers.size() - value.first;
    return as(Kind::kIntegers, read);
  }
  if (is(kind, "as_none")) return as(Kind::kNone, text.skip());
  if (is(kind, "as_bool")) {
    bool truth = false;
    const bool read = text.boolean(truth);
    value.number = truth;
    return as(Kind::kBoolean, read);
  }
  if (is(kind, "as_tensors")) return as(Kind::kTensors, tensors(text, value));
  if (is(kind, "as_float")) return as(Kind::kReal, text.real(value.real));
  if (is(kind, "as_scalar_type")) return as(Kind::kScalarType, text.integer(value.number));
  return std::ranges::find(kOthers, kind) != kOthers.end() && as(Kind::kText, text.skip());
}

}  // namespace pt2
