// Writes small ZIP archives in memory, valid or contradictory, for tests of the reader.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tmeter::testing {

struct ZipItem {
  std::string name, content;
  // The directory's false claims; −1: the truth.
  int64_t claimed_size = -1, claimed_compressed = -1, claimed_offset = -1;
  std::string local_name{};  // the name in the local header; empty: the same
  uint16_t method = 0, flags = 0;
};

class ZipWriter {
 public:
  static std::string make(const std::vector<ZipItem>& items) {
    ZipWriter z;
    std::string directory;
    for (const auto& item : items) z.add(item, directory);
    const auto start = z.out_.size();
    z.out_ += directory;
    z.u32(0x06054b50), z.u32(0);
    z.u16(static_cast<uint16_t>(items.size())), z.u16(static_cast<uint16_t>(items.size()));
    z.u32(static_cast<uint32_t>(directory.size())), z.u32(static_cast<uint32_t>(start)), z.u16(0);
    return z.out_;
  }

 private:
  void add(const ZipItem& item, std::string& directory) {
    const auto size = static_cast<uint32_t>(item.content.size());
    const auto header = static_cast<uint32_t>(out_.size());
    const auto& local = item.local_name.empty() ? item.name : item.local_name;
    u32(0x04034b50), u16(20), u16(item.flags), u16(item.method), u32(0), u32(0);
    u32(size), u32(size), u16(static_cast<uint16_t>(local.size())), u16(0);
    out_ += local + item.content;

    ZipWriter d;
    d.u32(0x02014b50), d.u16(20), d.u16(20), d.u16(item.flags), d.u16(item.method), d.u32(0),
        d.u32(0);
    d.u32(item.claimed_compressed < 0 ? size : static_cast<uint32_t>(item.claimed_compressed));
    d.u32(item.claimed_size < 0 ? size : static_cast<uint32_t>(item.claimed_size));
    d.u16(static_cast<uint16_t>(item.name.size())), d.u16(0), d.u16(0), d.u16(0), d.u16(0),
        d.u32(0);
    d.u32(item.claimed_offset < 0 ? header : static_cast<uint32_t>(item.claimed_offset));
    directory += d.out_ + item.name;
  }
  void u16(uint16_t v) { out_ += static_cast<char>(v & 0xff), out_ += static_cast<char>(v >> 8); }
  void u32(uint32_t v) {
    u16(static_cast<uint16_t>(v & 0xffff)), u16(static_cast<uint16_t>(v >> 16));
  }
  std::string out_;
};

}  // namespace tmeter::testing
