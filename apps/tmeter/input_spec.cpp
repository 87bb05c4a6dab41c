#include "apps/tmeter/input_spec.hpp"

#include <charconv>
#include <tmeter/cpp/dtype.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::app {
namespace {
using core::Error;
using core::ErrorKind;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::kUsage,
              "--input " + text + ": " + why +
                  "; [NAME=]SHAPE[:DTYPE] is expected, as in 1x3x224x224 or ids=1x128:i64");
}

std::vector<int64_t> parse_dims(const std::string& text, const std::string& shape) {
  if (shape == "scalar") return {};
  std::vector<int64_t> dims;
  for (const auto& part : core::split(shape, "x,")) {
    int64_t d = 0;
    const char* end = part.data() + part.size();
    const auto parsed = std::from_chars(part.data(), end, d);
    if (parsed.ec != std::errc() || parsed.ptr != end || d < 0)
      refuse(text, "'" + part + "' is no size");
    dims.push_back(d);
  }
  if (dims.empty() || shape.back() == 'x' || shape.front() == 'x')
    refuse(text, "the shape is incomplete");
  return dims;
}

}  // namespace

core::InputRequest parse_input_spec(const std::string& text) {
  core::InputRequest out;
  out.text = text;
  auto rest = text;
  if (const auto equals = rest.find('='); equals != std::string::npos) {
    out.name = rest.substr(0, equals);
    rest = rest.substr(equals + 1);
    if (out.name.empty()) refuse(text, "the name is empty");
  }
  if (const auto colon = rest.rfind(':'); colon != std::string::npos) {
    const auto dtype = DType::parse(rest.substr(colon + 1));
    if (!dtype.known()) {
      std::vector<std::string> known;
      known.reserve(kDTypes.size());
      for (const auto& d : kDTypes) known.emplace_back(d.code);
      refuse(text, "unknown dtype '" + rest.substr(colon + 1) + "'" +
                       core::did_you_mean(rest.substr(colon + 1), known));
    }
    out.dtype = dtype.id();
    rest = rest.substr(0, colon);
  }
  out.dims = parse_dims(text, rest);
  return out;
}

}  // namespace tmeter::app
