// A bounded, read-only view of a ZIP archive: PyTorch's containers (stored or deflated entries,
// ZIP64, one file). The directory is checked once, so that all readers see the same archive:
// central and local headers must agree, names must be unique, and entries must be inside the file
// without overlaps, which are used to deceive scanners (docs/limits.md).
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <vector>

namespace tmeter::core {

struct ZipEntry {
  std::string_view name;
  uint64_t size = 0;  // uncompressed
  uint64_t compressed_size = 0;
  uint64_t offset = 0;  // offset of the first content byte
  bool stored = true;
};

class ZipArchive {
 public:
  /// Whether the bytes begin with a local header, like a ZIP archive.
  static bool looks_like_zip(std::string_view file);

  /// Throws Error(kModel) with the defect. `file` must outlive the archive.
  explicit ZipArchive(std::string_view file);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  std::optional<size_t> find(std::string_view name) const;

  /// The content followed by at least 64 readable bytes: a view of the file, or inflated into
  /// memory of the archive. Throws Error(kModel) when it does not inflate to its declared size, or
  /// too much has been inflated.
  std::string_view read(size_t index) const;

 private:
  void count_inflated(const ZipEntry& entry) const;  // needs the mutex

  std::string_view file_;
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string_view, size_t, TextHash> by_name_;
  mutable std::mutex mutex_;
  mutable uint64_t inflated_ = 0;  // bytes
  mutable std::unordered_map<size_t, std::unique_ptr<std::string>> copies_;
};

}  // namespace tmeter::core
