#include "source_location.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pt2 {
namespace {

// Frames look like `File "/x/net.py", line 12, in forward`, each followed by its source line.
constexpr std::string_view kFile = "File \"", kLine = "\", line ";

struct Frame {
  std::string_view path, line;
};

bool read_frame(std::string_view text, Frame& frame) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (!text.starts_with(kFile)) return false;
  const size_t end = text.find(kLine, kFile.size());
  if (end == std::string_view::npos) return false;
  frame.path = text.substr(kFile.size(), end - kFile.size());
  const auto rest = text.substr(end + kLine.size());
  frame.line = rest.substr(0, rest.find_first_not_of("0123456789"));
  return !frame.line.empty();
}

bool is_users(std::string_view path) {
  static constexpr std::array<std::string_view, 3> kOfTorch{"/site-packages/torch/",
                                                            "/dist-packages/torch/", "<"};
  for (const auto part : kOfTorch)
    if (path.find(part) != std::string_view::npos) return false;
  return true;
}

std::string brief(const Frame& f) {
  const size_t slash = f.path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? f.path : f.path.substr(slash + 1)) + ":" +
         std::string(f.line);
}

}  // namespace

std::string source_location(std::string_view trace) {
  // Searches backwards: the frame is nearly always one of the last two.
  Frame last{};
  while (!trace.empty()) {
    const void* newline = memrchr(trace.data(), '\n', trace.size());
    const size_t start =
        newline ? static_cast<size_t>(static_cast<const char*>(newline) - trace.data()) + 1 : 0;
    Frame frame{};
    if (read_frame(trace.substr(start), frame)) {
      if (is_users(frame.path)) return brief(frame);
      if (last.path.empty()) last = frame;
    }
    trace = trace.substr(0, start == 0 ? 0 : start - 1);
  }
  return last.path.empty() ? std::string() : brief(last);
}

std::string at_line(std::string_view trace) {
  const auto line = source_location(trace);
  return line.empty() ? "" : " at " + line;
}

}  // namespace pt2
