#include "core/process/channel.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tmeter::core {
namespace {

constexpr size_t kMaxText = size_t{1} << 20;
constexpr size_t kBuffer = 2 * kMaxText;  // after a whole frame there is room to read on

struct Header {
  uint32_t kind;
  uint32_t size;
  uint64_t numbers[2];
};

/// One after the other, in as few calls as the pipe allows.
bool write_all(int fd, std::array<std::string_view, 2> parts) {
  while (!parts[0].empty() || !parts[1].empty()) {
    std::array<iovec, 2> left{};
    for (size_t i = 0; i < parts.size(); ++i)
      left[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
    const ssize_t n = ::writev(fd, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    auto written = static_cast<size_t>(n);
    for (auto& part : parts) {
      const size_t of_it = std::min(written, part.size());
      part.remove_prefix(of_it);
      written -= of_it;
    }
  }
  return true;
}

}  // namespace

void FrameWriter::send(FrameKind kind, uint64_t first, uint64_t second, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = kind == FrameKind::kFinished;
  do {  // long messages go in pieces; only report bytes are long
    const auto piece = text.substr(0, kMaxText);
    const Header header{
        static_cast<uint32_t>(kind), static_cast<uint32_t>(piece.size()), {first, second}};
    const std::string_view start(reinterpret_cast<const char*>(&header), sizeof header);
    if (!write_all(fd_, {start, piece})) return;
    text.remove_prefix(piece.size());
  } while (!text.empty() && kind == FrameKind::kReport);
}

bool FrameReader::read(const std::function<void(const Frame&)>& handle) {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(kBuffer);
  if (begin_ > 0 && kBuffer - end_ < kMaxText) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  const ssize_t n = ::read(fd_, buffer_.get() + end_, kBuffer - end_);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  end_ += static_cast<size_t>(n);
  return dispatch_frames(handle);
}

bool FrameReader::dispatch_frames(const std::function<void(const Frame&)>& handle) {
  while (end_ - begin_ >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, buffer_.get() + begin_, sizeof header);
    if (header.kind < 1 || header.kind > static_cast<uint32_t>(FrameKind::kParticipant) ||
        header.size > kMaxText) {
      broken_ = true;
      return false;
    }
    if (end_ - begin_ - sizeof header < header.size) break;
    const char* const text = buffer_.get() + begin_ + sizeof header;
    begin_ += sizeof header + header.size;
    handle({static_cast<FrameKind>(header.kind),
            {header.numbers[0], header.numbers[1]},
            {text, header.size}});
  }
  if (begin_ == end_) begin_ = end_ = 0;
  return true;
}

}  // namespace tmeter::core
