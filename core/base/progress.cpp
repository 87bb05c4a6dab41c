#include "core/base/progress.hpp"

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace tmeter::core {
namespace {

constexpr auto kShownAfter = std::chrono::milliseconds(1000);  // shorter work shows nothing
constexpr std::string_view kClear = "\r\033[K";
constexpr auto kInterval = std::chrono::milliseconds(100);

std::string amount(double value, const char* format) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// The power of 1000 that makes `bytes` readable.
struct Scale {
  double divisor;
  const char* unit;
};
Scale scale_of(double bytes) {
  constexpr std::array<Scale, 4> kScales{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  for (const auto& s : kScales) {
    if (bytes >= s.divisor) return s;
  }
  return {1, "B"};
}

std::string duration(double seconds) {
  const auto s = static_cast<int64_t>(std::ceil(seconds));
  if (s < 60) return std::to_string(s) + " s";
  return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
}

}  // namespace

std::string progress_text(uint64_t done, uint64_t total, std::string_view unit, double seconds) {
  const auto scale =
      unit == "B" ? scale_of(static_cast<double>(std::max(done, total))) : Scale{1, ""};
  const char* format = unit == "B" && scale.divisor > 1 ? "%.2f" : "%.0f";
  const std::string name = unit == "B" ? scale.unit : std::string(unit);
  const double now = static_cast<double>(done);
  std::string text = amount(now / scale.divisor, format);
  if (total) text += " of " + amount(static_cast<double>(total) / scale.divisor, format);
  text += " " + name;
  if (seconds <= 0 || done == 0) return text;
  const double rate = now / seconds;
  const auto rate_scale = unit == "B" ? scale_of(rate) : Scale{1, ""};
  text += ", " + amount(rate / rate_scale.divisor, "%.2f") + " " +
          (unit == "B" ? rate_scale.unit : name) + "/s";
  if (total > done) text += ", " + duration(static_cast<double>(total - done) / rate) + " left";
  return text;
}

double Pace::seconds(uint64_t done, uint64_t total, std::string_view unit, Clock::time_point now) {
  if (start_ == Clock::time_point{} || unit != unit_ || total != total_ || done < done_) {
    unit_ = unit;
    total_ = total;
    start_ = now;
  }
  done_ = done;
  return std::chrono::duration<double>(now - start_).count();
}

Progress::Progress(bool enabled)
    : shown_(enabled && isatty(STDERR_FILENO) == 1), start_(Clock::now()), last_(start_) {}

std::optional<std::string> Progress::update(uint64_t done, uint64_t total, std::string_view unit) {
  if (!shown_) return std::nullopt;
  const auto now = Clock::now();
  const double seconds = pace_.seconds(done, total, unit, now);
  if (now - start_ < kShownAfter || now - last_ < kInterval) return std::nullopt;
  last_ = now;
  visible_ = true;
  return std::string(kClear) + progress_text(done, total, unit, seconds);
}

std::string_view Progress::clear() { return std::exchange(visible_, false) ? kClear : ""; }

}  // namespace tmeter::core
