// The progress line of long work: amount done, rate, time left. Shown only on a terminal and only
// for work that takes a second or more.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tmeter::core {

/// The start time of a piece of work. Another unit, another total or a smaller amount done starts
/// the next piece: a file is unpacked, then its graph is read, then its weights.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  double seconds(uint64_t done, uint64_t total, std::string_view unit, Clock::time_point now);

 private:
  std::string unit_;
  uint64_t done_ = 0, total_ = 0;
  Clock::time_point start_{};
};

/// Makes the text to send to a terminal; the caller writes it.
class Progress {
 public:
  /// `enabled`: false with --quiet. Nothing is shown unless standard error is a terminal.
  explicit Progress(bool enabled);

  /// The line, now and then: `done` of `total` (0: unknown) in `unit`; "B" is scaled.
  std::optional<std::string> update(uint64_t done, uint64_t total, std::string_view unit);
  /// Removes the line; empty if no line is shown.
  std::string_view clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_, visible_ = false;
  Clock::time_point start_, last_;
  Pace pace_;
};

/// "1.31 of 2.60 GB, 5.12 GB/s, 1 s left"; `seconds` since the start of the work.
std::string progress_text(uint64_t done, uint64_t total, std::string_view unit, double seconds);

}  // namespace tmeter::core
