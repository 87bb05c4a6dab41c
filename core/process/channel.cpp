#include "core/process/channel.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace tmeter::core {
namespace {

constexpr size_t kMaxText = size_t{1} << 20;

struct Header {
  uint32_t kind;
  uint32_t size;
  uint64_t numbers[2];
};

bool write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

void FrameWriter::send(FrameKind kind, uint64_t first, uint64_t second, std::string_view text) {
  const std::lock_guard lock(mutex_);
  do {  // what is long goes in pieces; only report bytes are
    const auto piece = text.substr(0, kMaxText);
    const Header header{
        static_cast<uint32_t>(kind), static_cast<uint32_t>(piece.size()), {first, second}};
    if (!write_all(fd_, reinterpret_cast<const char*>(&header), sizeof header) ||
        !write_all(fd_, piece.data(), piece.size())) {
      return;
    }
    text.remove_prefix(piece.size());
  } while (!text.empty() && kind == FrameKind::kReport);
}

bool FrameReader::read(const std::function<void(const Frame&)>& handle) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  pending_.append(buffer.data(), static_cast<size_t>(n));
  return hand_over(handle);
}

bool FrameReader::hand_over(const std::function<void(const Frame&)>& handle) {
  size_t at = 0;
  while (pending_.size() - at >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, pending_.data() + at, sizeof header);
    if (header.kind < 1 || header.kind > static_cast<uint32_t>(FrameKind::kRunsModel) ||
        header.size > kMaxText) {
      broken_ = true;
      return false;
    }
    if (pending_.size() - at - sizeof header < header.size) break;
    handle({static_cast<FrameKind>(header.kind),
            {header.numbers[0], header.numbers[1]},
            pending_.substr(at + sizeof header, header.size)});
    at += sizeof header + header.size;
  }
  pending_.erase(0, at);
  return true;
}

}  // namespace tmeter::core
