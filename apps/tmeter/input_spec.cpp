#include "apps/tmeter/input_spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <tmeter/cpp/dtype.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::app {
namespace {
using core::Error;
using core::ErrorKind;

constexpr int kMaxNesting = 8;

/// PyTorch's alternative names of types, and names that are common for GPUs.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"half", "f16"},   {"fp16", "f16"}, {"float", "f32"}, {"fp32", "f32"},
    {"double", "f64"}, {"long", "i64"}, {"int", "i32"},   {"short", "i16"}};

struct Brackets {
  char open, close;
  int32_t form;
};
constexpr std::array<Brackets, 2> kBrackets{
    {{'[', ']', TMETER_INPUT_LIST}, {'(', ')', TMETER_INPUT_TUPLE}}};

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::kUsage,
              "--input " + text + ": " + why +
                  "; [NAME=]SHAPE[:DTYPE] is expected, as in 1x3x224x224 or ids=1x128:i64; a list "
                  "is images=[3x800x800,3x600x800]");
}

bool all_digits(const std::string& s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether the text is a value and not a shape: true, false, none, 0.5, -1, 1e-3.
bool is_plain_value(const std::string& s) {
  if (s == "true" || s == "false" || s == "none") return true;
  if (s.empty() || all_digits(s)) return false;
  double value = 0;
  const auto parsed = std::from_chars(s.data(), s.data() + s.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == s.data() + s.size();
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  std::vector<core::InputRequest> run() {
    auto rest = text_;
    std::string name;
    if (const auto equals = rest.find('='); equals != std::string::npos) {
      name = rest.substr(0, equals);
      rest = rest.substr(equals + 1);
      if (name.empty()) refuse(text_, "the name is empty");
    }
    // 1,3,224,224 is one shape; 3x800x800,3x600x800 is a list of two.
    const bool bare_list = rest.find_first_of("[(") == std::string::npos &&
                           rest.find(',') != std::string::npos &&
                           rest.find('x') != std::string::npos;
    value(bare_list ? "[" + rest + "]" : rest, TMETER_DTYPE_UNDEFINED, 0);
    out_[0].name = name;
    for (auto& request : out_) request.text = text_;
    return std::move(out_);
  }

 private:
  void value(std::string rest, int32_t outer_dtype, int depth) {
    const size_t at = out_.size();
    out_.emplace_back();
    const auto dtype = take_dtype(rest);
    out_[at].dtype = dtype == TMETER_DTYPE_UNDEFINED ? outer_dtype : dtype;
    for (const auto& b : kBrackets) {
      if (rest.empty() || rest.front() != b.open) continue;
      if (rest.size() < 3 || rest.back() != b.close) refuse(text_, "a bracket is not closed");
      return items(at, rest.substr(1, rest.size() - 2), b.form, depth);
    }
    if (is_plain_value(rest)) {
      out_[at].form = TMETER_INPUT_VALUE;
      out_[at].value = rest;
    } else {
      out_[at].dims = dims(rest);
    }
  }

  void items(size_t at, const std::string& inside, int32_t form, int depth) {
    if (depth >= kMaxNesting) refuse(text_, "the lists are nested too deeply");
    out_[at].form = form;
    const auto dtype = out_[at].dtype;
    for (const auto& part : split_outside_brackets(inside)) {
      value(part, dtype, depth + 1);
      ++out_[at].items;
    }
  }

  std::vector<std::string> split_outside_brackets(const std::string& inside) const {
    std::vector<std::string> parts(1);
    int open = 0;
    for (const char c : inside) {
      open += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      if (open < 0) refuse(text_, "a bracket is not closed");
      if (c == ',' && open == 0)
        parts.emplace_back();
      else
        parts.back() += c;
    }
    return parts;
  }

  /// Cuts ":i64" off the end.
  int32_t take_dtype(std::string& rest) const {
    const auto colon = rest.rfind(':');
    if (colon == std::string::npos || rest.find_first_of("])", colon) != std::string::npos)
      return TMETER_DTYPE_UNDEFINED;
    auto code = rest.substr(colon + 1);
    if (constexpr std::string_view kTorch = "torch."; code.starts_with(kTorch))
      code.erase(0, kTorch.size());
    for (const auto& [other, ours] : kOtherNames)
      if (code == other) code = ours;
    const auto dtype = DType::parse(code);
    if (!dtype.known()) {
      std::vector<std::string> codes;
      codes.reserve(kDTypes.size());
      for (const auto& d : kDTypes) codes.emplace_back(d.code);
      refuse(text_, "unknown dtype '" + code + "'" + did_you_mean(code, codes));
    }
    rest = rest.substr(0, colon);
    return dtype.id();
  }

  /// "1×3×224×224", as pages show sizes, with "x".
  static std::string with_plain_times(std::string shape) {
    constexpr std::string_view kTimes = "×";
    for (size_t at = 0; (at = shape.find(kTimes, at)) != shape.npos;)
      shape.replace(at, kTimes.size(), "x");
    return shape;
  }

  std::vector<int64_t> dims(const std::string& shape) const {
    if (shape == "scalar") return {};
    std::vector<int64_t> dims;
    for (const auto& part : core::split(with_plain_times(shape), "xX*, ")) {
      int64_t d = 0;
      const char* end = part.data() + part.size();
      const auto parsed = std::from_chars(part.data(), end, d);
      if (parsed.ec != std::errc() || parsed.ptr != end || d < 0)
        refuse(text_, "'" + part + "' is not a size");
      dims.push_back(d);
    }
    if (dims.empty() || shape.back() == 'x' || shape.front() == 'x')
      refuse(text_, "the shape is incomplete");
    return dims;
  }

  const std::string& text_;
  std::vector<core::InputRequest> out_;
};

}  // namespace

std::vector<core::InputRequest> parse_input_spec(const std::string& text) {
  return Parser(text).run();
}

namespace {

[[noreturn]] void refuse_sweep(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::kUsage,
              "--sweep " + text + ": " + why +
                  "; SYMBOL=VALUES is expected, as in batch=1,8,64 or seq=128..1024:128");
}

int64_t parse_size(const std::string& text, std::string_view number) {
  int64_t value = 0;
  const char* end = number.data() + number.size();
  const auto parsed = std::from_chars(number.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || value < 0)
    refuse_sweep(text, "'" + std::string(number) + "' is not a size");
  return value;
}

void add_range(const std::string& text, std::string_view part, std::vector<int64_t>& out) {
  const auto dots = part.find("..");
  const auto colon = part.find(':', dots);
  const auto first = parse_size(text, part.substr(0, dots));
  const auto last = parse_size(text, part.substr(dots + 2, colon - (dots + 2)));
  const auto step = colon == part.npos ? 1 : parse_size(text, part.substr(colon + 1));
  if (step == 0) refuse_sweep(text, "the step is 0");
  if (last < first) refuse_sweep(text, "the range " + std::string(part) + " is empty");
  const auto more = static_cast<uint64_t>((last - first) / step);
  if (out.size() + more >= core::kMaxSweepPoints) {
    refuse_sweep(text, "more than the " + std::to_string(core::kMaxSweepPoints) +
                           " points that are accepted");
  }
  for (uint64_t i = 0; i <= more; ++i) out.push_back(first + static_cast<int64_t>(i) * step);
}

}  // namespace

core::SweepAxis parse_sweep_spec(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0) refuse_sweep(text, "the symbol is missing");
  if (equals == std::string::npos) refuse_sweep(text, "there are no values");
  core::SweepAxis axis{text.substr(0, equals), {}};
  for (const auto& part : core::split(std::string_view(text).substr(equals + 1), ",")) {
    if (part.find("..") != std::string::npos)
      add_range(text, part, axis.second);
    else
      axis.second.push_back(parse_size(text, part));
  }
  if (axis.second.empty()) refuse_sweep(text, "there are no values");
  return axis;
}

}  // namespace tmeter::app
