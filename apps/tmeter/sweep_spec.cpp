#include "apps/tmeter/sweep_spec.hpp"

#include <charconv>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::app {
namespace {
using core::Error;
using core::ErrorKind;

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
