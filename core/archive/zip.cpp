#include "core/archive/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"

// Layout: APPNOTE.TXT 6.3.10, sections 4.3.7 (local header), 4.3.12 (central directory),
// 4.3.14–16 (ZIP64 and end records), 4.5.3 (ZIP64 extra field).
namespace tmeter::core {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr size_t kEndSize = 22, kCentralSize = 46, kLocalSize = 30, kMaxComment = 65535;
constexpr size_t kPadding = 64;  // readable bytes after an entry (simdjson)
// For a stored entry, the file has them: at least one header of the directory and the end record.
static_assert(kCentralSize + kEndSize >= kPadding);
// PyTorch stores without compression. Of repacked archives, only the entries that loaders read are
// inflated: the JSON of a graph of 100,000 operators has 157 MB (docs/benchmarks.md).
constexpr uint64_t kMaxInflated = uint64_t{256} << 20;
constexpr uint64_t kMaxRatio = 1032;  // the largest ratio of deflate

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorKind::kModel,
              "the archive is damaged: " + what + "; was it saved or downloaded completely?");
}

template <class T>
T get(std::string_view file, uint64_t at) {
  if (!range_fits(at, sizeof(T), file.size())) damaged("a header is beyond the end of the file");
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

struct Directory {
  uint64_t count, size, offset;
};

Directory find_directory(std::string_view file) {
  if (file.size() < kEndSize) damaged("it is too short for an end record");
  uint64_t at = file.size() - kEndSize;
  const uint64_t last = at > kMaxComment ? at - kMaxComment : 0;
  while (get<uint32_t>(file, at) != kEnd) {
    if (at == last) damaged("the end record of its directory is missing (truncated?)");
    --at;
  }
  Directory d{get<uint16_t>(file, at + 10), get<uint32_t>(file, at + 12),
              get<uint32_t>(file, at + 16)};
  if (at >= 20 && get<uint32_t>(file, at - 20) == kEnd64Locator) {
    const auto end64 = get<uint64_t>(file, at - 12);
    if (get<uint32_t>(file, end64) != kEnd64) damaged("its ZIP64 end record is missing");
    d = {get<uint64_t>(file, end64 + 32), get<uint64_t>(file, end64 + 40),
         get<uint64_t>(file, end64 + 48)};
  }
  if (!range_fits(d.offset, d.size, at)) damaged("its directory is beyond its end record");
  if (d.count > d.size / kCentralSize)
    damaged("its directory claims more entries than it can hold");
  return d;
}

/// Sizes and offset of 0xffffffff are replaced by the values of the ZIP64 extra field.
void apply_zip64(std::string_view file, uint64_t at, uint64_t end, ZipEntry& entry,
                 uint64_t& header) {
  while (at + 4 <= end) {
    const auto id = get<uint16_t>(file, at), size = get<uint16_t>(file, at + 2);
    at += 4;
    if (size > end - at) return;
    if (id == 1) {
      uint64_t p = at;
      for (uint64_t* field : {&entry.size, &entry.compressed_size, &header}) {
        if (*field == 0xffffffffu && p + 8 <= at + size) *field = get<uint64_t>(file, p), p += 8;
      }
    }
    at += size;
  }
}

std::string entry_text(const ZipEntry& e) { return "entry '" + printable(e.name, 80) + "'"; }

void check_sizes(const ZipEntry& e) {
  const auto name = entry_text(e);
  if (e.stored && e.size != e.compressed_size) damaged(name + " has contradictory sizes");
  if (!e.stored && e.size / kMaxRatio > e.compressed_size) {
    damaged(name + " claims to inflate from " + std::to_string(e.compressed_size) + " to " +
            std::to_string(e.size) + " bytes, which deflate cannot do");
  }
}

/// A local header may leave sizes to the descriptor after the content (flag 3, or zero) or to its
/// ZIP64 field. If it states them, other readers use them.
void check_local_sizes(std::string_view file, uint64_t header, const ZipEntry& e) {
  constexpr uint16_t kInDescriptor = 8;
  constexpr uint32_t kInZip64 = 0xffffffffu;
  if (get<uint16_t>(file, header + 6) & kInDescriptor) return;
  const auto differs = [&](uint64_t at, uint64_t size) {
    const auto local = get<uint32_t>(file, header + at);
    return local != 0 && local != kInZip64 && local != size;
  };
  if (differs(18, e.compressed_size) || differs(22, e.size))
    damaged(entry_text(e) + " has a different size in its local header");
}

/// Reads the central entry at `at`, checks it against its local header, and moves `at` past it.
ZipEntry read_entry(std::string_view file, uint64_t& at, uint64_t end, uint64_t& header) {
  if (!range_fits(at, kCentralSize, end) || get<uint32_t>(file, at) != kCentralHeader) {
    damaged("an entry of its directory is broken");
  }
  ZipEntry e;
  const auto flags = get<uint16_t>(file, at + 8), method = get<uint16_t>(file, at + 10);
  e.compressed_size = get<uint32_t>(file, at + 20);
  e.size = get<uint32_t>(file, at + 24);
  const uint64_t name = get<uint16_t>(file, at + 28), extra = get<uint16_t>(file, at + 30);
  const uint64_t comment = get<uint16_t>(file, at + 32);
  header = get<uint32_t>(file, at + 42);
  if (!range_fits(at + kCentralSize, name + extra + comment, end))
    damaged("its directory is cut off");
  e.name = file.substr(at + kCentralSize, name);
  apply_zip64(file, at + kCentralSize + name, at + kCentralSize + name + extra, e, header);
  at += kCentralSize + name + extra + comment;

  const auto shown = entry_text(e);
  if (flags & 1) damaged(shown + " is encrypted");
  if (method != 0 && method != 8)
    damaged(shown + " uses compression method " + std::to_string(method));
  e.stored = method == 0;
  if (!range_fits(header, kLocalSize, file.size()) || get<uint32_t>(file, header) != kLocalHeader) {
    damaged(shown + " points outside the file");
  }
  const uint64_t local_name = get<uint16_t>(file, header + 26);
  if (local_name != name || !range_fits(header + kLocalSize, name, file.size()) ||
      file.substr(header + kLocalSize, name) != e.name ||
      get<uint16_t>(file, header + 8) != method) {
    damaged(shown + " has a different name or method in its local header");
  }
  e.offset = header + kLocalSize + local_name + get<uint16_t>(file, header + 28);
  if (!range_fits(e.offset, e.compressed_size, file.size())) {
    damaged(shown + " claims " + std::to_string(e.compressed_size) +
            " bytes, beyond the end of the file");
  }
  check_sizes(e);
  check_local_sizes(file, header, e);
  return e;
}

std::unique_ptr<std::string> inflate_entry(std::string_view file, const ZipEntry& e) {
  auto out = std::make_unique<std::string>(e.size + kPadding, '\0');
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) throw std::bad_alloc();  // the only possible cause
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data() + e.offset));
  z.avail_in = static_cast<uInt>(e.compressed_size);
  z.next_out = reinterpret_cast<Bytef*>(out->data());
  z.avail_out = static_cast<uInt>(e.size + kPadding);
  const int status = inflate(&z, Z_FINISH);
  const uint64_t produced = z.total_out;
  inflateEnd(&z);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_STREAM_END || produced != e.size) {
    damaged(entry_text(e) + " does not inflate to its declared size");
  }
  return out;
}

}  // namespace

bool ZipArchive::looks_like_zip(std::string_view file) {
  return file.size() >= 4 && get<uint32_t>(file, 0) == kLocalHeader;
}

ZipArchive::ZipArchive(std::string_view file) : file_(file) {
  const auto directory = find_directory(file);
  uint64_t at = directory.offset;
  const uint64_t end = directory.offset + directory.size;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // header begin, content end
  entries_.reserve(directory.count);
  ranges.reserve(directory.count);
  for (uint64_t i = 0; i < directory.count; ++i) {
    uint64_t header = 0;
    entries_.push_back(read_entry(file, at, end, header));
    const auto& e = entries_.back();
    if (!by_name_.emplace(e.name, i).second) damaged(entry_text(e) + " occurs twice");
    ranges.emplace_back(header, e.offset + e.compressed_size);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) damaged("two of its entries overlap");
  }
  if (!ranges.empty() && ranges.back().second > directory.offset)
    damaged("its last entry extends into the directory");
}

std::optional<size_t> ZipArchive::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

void ZipArchive::count_inflated(const ZipEntry& e) const {
  if (e.size > kMaxInflated - inflated_) {
    throw Error(ErrorKind::kModel,
                entry_text(e) + " inflates to " + std::to_string(e.size) + " bytes" +
                    (inflated_ ? ", those before it to " + std::to_string(inflated_) : "") +
                    "; tmeter accepts 256 MiB of inflated entries: pack the archive without "
                    "compression, as torch writes it");
  }
  inflated_ += e.size;
}

std::string_view ZipArchive::read(size_t index) const {
  const auto& e = entries_.at(index);
  if (e.stored) return file_.substr(e.offset, e.size);
  const std::lock_guard lock(mutex_);
  auto& copy = copies_[index];
  if (!copy) {
    count_inflated(e);
    copy = inflate_entry(file_, e);
  }
  return std::string_view(*copy).substr(0, e.size);
}

}  // namespace tmeter::core
