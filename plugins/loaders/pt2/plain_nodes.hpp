// The nodes of a graph as torch writes them, read from the text of a piece of their list.
#pragma once
#include <vector>

#include "plain_text.hpp"

namespace pt2 {

/// An argument or a result.
struct PlainValue {
  enum class Kind : uint8_t {
    kTensor,    // text: its name
    kTensors,   // count of PlainNodes::names from `first` on
    kInteger,   // number
    kIntegers,  // count of PlainNodes::numbers from `first` on
    kReal,      // real
    kBoolean,   // number
    kNone,
    kScalarType,  // number
    kText,        // text: the union as it stands, of a kind that is read as a document
  };
  Kind kind = Kind::kNone;
  std::string_view name = {};  // of the argument
  std::string_view text = {};
  int64_t number = 0;
  double real = 0;
  size_t first = 0, count = 0;
};

struct PlainNode {
  /// Not as nodes mostly are, or with graphs of its own: only `text` is set.
  bool is_unusual = false;
  std::string_view text;
  std::string_view target, stack;
  std::string_view trace;  // with its escapes
  size_t first_argument = 0, arguments = 0;
  size_t first_result = 0, results = 0;
};

class PlainNodes {
 public:
  /// The nodes between the commas of a list; 64 bytes behind the text are readable. False when the
  /// piece has to be read as a document, be it that it is no JSON.
  bool read(std::string_view piece);

  std::vector<PlainNode> nodes;
  std::vector<PlainValue> values;
  std::vector<std::string_view> names;
  std::vector<int64_t> numbers;

 private:
  using Kind = PlainValue::Kind;
  bool node(PlainText& text);
  bool members(PlainText& text, PlainNode& node);
  bool metadata(PlainText& text, PlainNode& node);
  bool argument(PlainText& text);
  bool usual_argument(PlainText& text, PlainValue& value);
  bool any_argument(PlainText& text, PlainValue& value);
  bool result(PlainText& text);
  bool value(PlainText& text, PlainValue& value);
  bool value_of_kind(PlainText& text, std::string_view kind, PlainValue& value);
  bool tensors(PlainText& text, PlainValue& value);
};

}  // namespace pt2
