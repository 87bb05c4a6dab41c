#include "package.hpp"

#include <zlib.h>

#include <array>
#include <tmeter/cpp/base.hpp>

namespace xlsx_report {
namespace {

constexpr size_t kPiece = size_t{1} << 16;
/// The largest file; larger ones need ZIP64, which spreadsheets support only in part.
constexpr uint64_t kMaxZip = 0xFFFF'FFFE;
constexpr int kRawDeflate = -15, kMemoryLevel = 8;

template <class Number>
void put(std::string& out, Number value) {
  for (size_t i = 0; i < sizeof value; ++i)
    out += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xFF);
}

[[noreturn]] void refuse_size() {
  throw tmeter::Error(TMETER_UNSUPPORTED,
                      "an xlsx file holds at most 4 GiB; --report csv has no such limit");
}

}  // namespace

struct Package::Deflater {
  z_stream stream{};
};

Package::Package(tmeter::Output& out) : out_(out), deflater_(new Deflater) {
  if (deflateInit2(&deflater_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawDeflate, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    delete deflater_;
    throw std::bad_alloc();
  }
}

Package::~Package() {
  deflateEnd(&deflater_->stream);
  delete deflater_;
}

void Package::part(std::string_view name) {
  if (!entries_.empty()) end_part();
  entries_.push_back({std::string(name)});
  entries_.back().crc = static_cast<uint32_t>(crc32(0, nullptr, 0));
  part_size_ = 0;
}

Package& Package::operator<<(std::string_view text) {
  text_ += text;
  if (text_.size() >= kPiece) compress(false);
  return *this;
}

void Package::compress(bool last) {
  auto& z = deflater_->stream;
  auto& entry = entries_.back();
  part_size_ += text_.size();
  if (part_size_ > kMaxZip) refuse_size();
  auto* bytes = reinterpret_cast<Bytef*>(text_.data());
  entry.crc = static_cast<uint32_t>(crc32(entry.crc, bytes, static_cast<uInt>(text_.size())));
  z.next_in = bytes;
  z.avail_in = static_cast<uInt>(text_.size());
  std::array<char, kPiece> room;
  do {
    z.next_out = reinterpret_cast<Bytef*>(room.data());
    z.avail_out = static_cast<uInt>(room.size());
    deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
    compressed_.append(room.data(), room.size() - z.avail_out);
  } while (z.avail_out == 0);
  text_.clear();
}

/// A local header (30 bytes and the name) or an entry of the directory (46 and the name): APPNOTE
/// 6.3.10, 4.3.7 and 4.3.12. The time is 1980-01-01, so that equal reports are equal files.
std::string Package::header(const Entry& e, bool central) const {
  constexpr uint16_t kVersion = 20, kUtf8Names = 1 << 11, kFirstDay = 1 << 5 | 1;
  std::string out;
  put(out, uint32_t{central ? 0x02014b50u : 0x04034b50u});
  if (central) put(out, kVersion);
  put(out, kVersion);
  put(out, kUtf8Names);
  put(out, uint16_t{Z_DEFLATED});
  put(out, uint16_t{0});
  put(out, kFirstDay);
  put(out, e.crc);
  put(out, e.compressed);
  put(out, e.size);
  put(out, static_cast<uint16_t>(e.name.size()));
  put(out, uint16_t{0});
  if (central) {
    out.append(10, '\0');  // comment, disk, attributes
    put(out, e.offset);
  }
  return out + e.name;
}

void Package::end_part() {
  compress(true);
  deflateReset(&deflater_->stream);
  auto& e = entries_.back();
  e.compressed = static_cast<uint32_t>(compressed_.size());
  e.size = static_cast<uint32_t>(part_size_);
  e.offset = static_cast<uint32_t>(written_);
  const auto head = header(e, false);
  written_ += head.size() + compressed_.size();
  if (written_ > kMaxZip || compressed_.size() > kMaxZip) refuse_size();
  out_.write(head);
  out_.write(compressed_);
  compressed_.clear();
}

void Package::finish() {
  end_part();
  std::string directory;
  for (const auto& e : entries_) directory += header(e, true);
  std::string end;
  put(end, uint32_t{0x06054b50});
  put(end, uint32_t{0});
  put(end, static_cast<uint16_t>(entries_.size()));
  put(end, static_cast<uint16_t>(entries_.size()));
  put(end, static_cast<uint32_t>(directory.size()));
  put(end, static_cast<uint32_t>(written_));
  put(end, uint16_t{0});
  out_.write(directory);
  out_.write(end);
}

}  // namespace xlsx_report
