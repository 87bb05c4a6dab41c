// The ZIP file of a workbook. Parts are compressed while they are written, so memory holds no
// more than their compressed bytes. libxlsxwriter would write temporary files, which the sandbox
// forbids.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../common/buffer.hpp"

namespace xlsx_report {

class Package {
 public:
  explicit Package(tmeter::Output& out);
  Package(const Package&) = delete;
  ~Package();

  /// Starts a part, "xl/workbook.xml"; ends the previous one. Throws tmeter::Error if a part or the
  /// file exceeds 4 GiB.
  void part(std::string_view name);
  Package& operator<<(std::string_view text);
  /// Writes the directory.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc = 0, compressed = 0, size = 0, offset = 0;
  };
  void end_part();
  void compress(bool last);
  std::string header(const Entry& entry, bool central) const;

  tmeter::Output& out_;
  std::vector<Entry> entries_;
  std::string text_, compressed_;
  uint64_t written_ = 0, part_size_ = 0;
  struct Deflater;
  Deflater* deflater_;
};

}  // namespace xlsx_report
