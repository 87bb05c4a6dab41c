// The frames that a worker sends its supervisor over a pipe: a kind, a length, bytes. They are
// untrusted: a malformed frame ends the worker.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/host_sink.hpp"

namespace tmeter::core {

enum class FrameKind : uint32_t {
  kMessage = 1,   ///< a line for standard error
  kProgress = 2,  ///< Frame::numbers: done, total; text: unit
  kProgressEnded = 3,
  kReport = 4,        ///< numbers[0]: target; text: bytes
  kRunsFile = 5,      ///< text: the engine that runs code of the file; empty when it has ended
  kOffender = 6,      ///< before kFinished. numbers: opened, requested; text: plugin, NUL, reason
  kFinished = 7,      ///< numbers: exit status, whether reports are valid; text: the message
  kRunsModel = 8,     ///< text: the engine that runs the model; empty when it has ended
  kLongReport = 9,    ///< numbers: target, place of the bytes in the ReportMemory
  kReportWhole = 10,  ///< numbers: target, bytes in all
  kParticipant = 11,  ///< before code of a third-party plugin runs. text: its library, NUL, its id
};

struct Frame {
  FrameKind kind{};
  uint64_t numbers[2] = {0, 0};
  std::string_view text;
};

/// The worker's end.
class FrameWriter {
 public:
  explicit FrameWriter(int fd) : fd_(fd) {}
  /// Any thread. Does nothing after kFinished. A closed pipe is ignored: a worker ends with its
  /// supervisor.
  void send(FrameKind kind, uint64_t first, uint64_t second, std::string_view text);

 private:
  std::mutex mutex_;
  int fd_;
  bool finished_ = false;
};

/// The supervisor's end.
class FrameReader {
 public:
  explicit FrameReader(int fd) : fd_(fd) {}

  /// Reads the available bytes without waiting and hands over each whole frame; its text is valid
  /// until the next one. False once the other end is closed or has sent bytes that do not form a
  /// frame.
  bool read(const std::function<void(const Frame&)>& handle);
  /// True if the bytes did not form a frame.
  bool broken() const { return broken_; }

 private:
  bool dispatch_frames(const std::function<void(const Frame&)>& handle);
  int fd_;
  bool broken_ = false;
  std::unique_ptr<char[]> buffer_;  // more than the longest frame; only pages in use take memory
  size_t begin_ = 0, end_ = 0;      // in buffer_: bytes read and not handed over yet
};

}  // namespace tmeter::core
