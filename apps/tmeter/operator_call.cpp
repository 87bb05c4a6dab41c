#include "apps/tmeter/operator_call.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tmeter/cpp/dtype.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::app {
namespace {
using namespace core;

constexpr size_t kMaxCallCharacters = 10'000;
constexpr int kMaxListDepth = 8;
constexpr size_t kMaxDims = 64;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class CallParser {
 public:
  explicit CallParser(const std::string& text) : text_(text) {}

  OperatorCall run() {
    if (text_.size() > kMaxCallCharacters)
      refuse("it is longer than " + std::to_string(kMaxCallCharacters) + " characters");
    OperatorCall out{text_, std::string(operator_name()), {}, {}};
    expect('(');
    while (!take(')')) {
      if (!out.arguments.empty()) expect(',');
      out.arguments.push_back(argument());
      const auto& name = out.arguments.back().name;
      const auto same = std::ranges::count(out.arguments, name, &CallArgument::name);
      if (!name.empty() && same > 1) refuse("the argument '" + name + "' occurs twice");
    }
    if (take_text("->")) {
      do {
        out.results.push_back(value(0));
      } while (take(','));
    }
    skip_spaces();
    if (at_ < text_.size()) refuse("the end is expected");
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::kUsage, "--call " + printable(text_) + ": " + what + " at character " +
                                       std::to_string(at_ + 1) +
                                       "; an operator with its arguments is expected, as in "
                                       "acme::mlp(x=f32[4,32], n=2) -> f32[4,64]");
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take_text(std::string_view words) {
    skip_spaces();
    if (!std::string_view(text_).substr(at_).starts_with(words)) return false;
    at_ += words.size();
    return true;
  }
  bool take(char c) { return take_text({&c, 1}); }
  void expect(char c) {
    if (!take(c)) refuse(std::string("'") + c + "' is expected");
  }
  std::string_view word(std::string_view also = {}) {
    skip_spaces();
    const auto begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || also.find(text_[at_]) != also.npos)) ++at_;
    return std::string_view(text_).substr(begin, at_ - begin);
  }
  std::string_view operator_name() {
    const auto name = word(":.");
    const auto colons = name.find("::");
    if (colons == 0 || colons == name.npos || colons + 2 == name.size() ||
        name.find(':', colons + 2) != name.npos)
      refuse("the name of an operator, such as acme::mlp, is expected");
    return name;
  }
  CallArgument argument() {
    const auto begin = at_;
    const auto name = word();
    if (!name.empty() && !(name[0] >= '0' && name[0] <= '9') && take('='))
      return {std::string(name), value(0)};
    at_ = begin;
    return {{}, value(0)};
  }
  CallValue value(int depth) {
    if (depth > kMaxListDepth) refuse("lists are nested too deeply");
    CallValue out;
    if (take('[')) {
      out.kind = TMETER_VALUE_LIST;
      while (!take(']')) {
        if (!out.items.empty()) expect(',');
        out.items.push_back(value(depth + 1));
      }
      return out;
    }
    if (take('"')) return quoted();
    const auto begin = at_;
    const auto name = word("+-.");
    if (name == "none") return out.kind = TMETER_VALUE_NONE, out;
    if (name == "true" || name == "false")
      return out.kind = TMETER_VALUE_BOOL, out.i = name == "true", out;
    if (const DType dtype = DType::parse(name); dtype.known()) return tensor(dtype);
    return number(name, begin);
  }
  CallValue quoted() {
    CallValue out;
    out.kind = TMETER_VALUE_TEXT;
    const auto end = text_.find('"', at_);
    if (end == text_.npos) refuse("a string is not closed");
    out.text = text_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  CallValue tensor(DType dtype) {
    CallValue out;
    out.kind = TMETER_VALUE_TENSOR;
    out.dtype = dtype.id();
    expect('[');
    while (!take(']')) {
      if (!out.dims.empty()) expect(',');
      const auto begin = (skip_spaces(), at_);
      const auto size = number(word("+-."), begin);
      if (size.kind != TMETER_VALUE_INT || size.i < 0) refuse("a size, 0 or more, is expected");
      if (out.dims.size() == kMaxDims) refuse("a tensor has more than 64 dims");
      out.dims.push_back(size.i);
    }
    return out;
  }
  CallValue number(std::string_view text, size_t begin) {
    CallValue out;
    out.kind = TMETER_VALUE_INT;
    const auto* end = text.data() + text.size();
    const auto whole = std::from_chars(text.data(), end, out.i);
    if (whole.ec == std::errc() && whole.ptr == end) return out;
    out.kind = TMETER_VALUE_FLOAT;
    const auto real = std::from_chars(text.data(), end, out.f);
    if (real.ec == std::errc() && real.ptr == end && std::isfinite(out.f)) return out;
    at_ = begin;
    refuse("a value is expected: f32[4,32], 2, 0.5, true, none, \"text\" or a list");
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

OperatorCall parse_call(const std::string& text) { return CallParser(text).run(); }

GraphBuilder::Id add_value(GraphBuilder& b, const CallValue& v) {
  switch (v.kind) {
    case TMETER_VALUE_TENSOR: {
      std::vector<DimSpec> dims;
      for (const auto d : v.dims) dims.push_back({d, 0});
      return b.value_tensor(v.dtype, dims);
    }
    case TMETER_VALUE_INT:
      return b.value_int({v.i, 0});
    case TMETER_VALUE_FLOAT:
      return b.value_float(v.f);
    case TMETER_VALUE_BOOL:
      return b.value_bool(v.i != 0);
    case TMETER_VALUE_TEXT:
      return b.value_text(v.text);
    case TMETER_VALUE_LIST: {
      std::vector<GraphBuilder::Id> items;
      for (const auto& item : v.items) items.push_back(add_value(b, item));
      return b.value_list(items);
    }
    default:
      return b.value_none();
  }
}

}  // namespace tmeter::app
