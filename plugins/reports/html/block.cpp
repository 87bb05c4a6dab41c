#include "block.hpp"

#include <array>
#include <cmath>

#include "../common/base64.hpp"

namespace html_report {
namespace {

constexpr size_t kChunkBytes = 48 * 1024;  // a multiple of 3: whole groups of base64
constexpr int kLevel = 6;
constexpr size_t kMaxChunk = size_t{1} << 30;  // zlib counts its input in 32 bits

}  // namespace

Block::Block(tmeter::Output& out, std::string_view name) : out_(out) {
  // Raw deflate (negative window bits) for the page's DecompressionStream("deflate-raw").
  if (deflateInit2(&zlib_, kLevel, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw tmeter::Error("html: zlib could not be set up");
  out_.print("<script type=\"application/octet-stream\" id=\"tmeter-{}\">", name);
}

Block::~Block() { deflateEnd(&zlib_); }

void Block::write(std::string_view text) {
  for (; text.size() > kMaxChunk; text.remove_prefix(kMaxChunk))
    deflate_some(text.substr(0, kMaxChunk), Z_NO_FLUSH);
  deflate_some(text, Z_NO_FLUSH);
}

void Block::finish() {
  deflate_some({}, Z_FINISH);
  put_base64(true);
  out_.write("</script>\n");
}

void Block::deflate_some(std::string_view text, int flush) {
  std::array<unsigned char, kChunkBytes> buffer;
  // zlib does not write there; `next_in` is not const without ZLIB_CONST.
  zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib_.avail_in = static_cast<uInt>(text.size());
  do {
    zlib_.next_out = buffer.data();
    zlib_.avail_out = static_cast<uInt>(buffer.size());
    if (deflate(&zlib_, flush) == Z_STREAM_ERROR) throw tmeter::Error("html: zlib failed");
    compressed_.append(reinterpret_cast<const char*>(buffer.data()),
                       buffer.size() - zlib_.avail_out);
    if (compressed_.size() >= kChunkBytes) put_base64(false);
  } while (zlib_.avail_out == 0);
}

void Block::put_base64(bool last) {
  const size_t ready = last ? compressed_.size() : compressed_.size() / 3 * 3;
  out_.write(reports::base64(std::string_view(compressed_).substr(0, ready)));
  compressed_.erase(0, ready);
}

Json& exact(Json& json, int64_t value) {
  constexpr int64_t kMaxExact = int64_t{1} << 53;
  const bool is_exact = value <= kMaxExact && value >= -kMaxExact;
  return is_exact ? json.integer(value) : json.text("i" + std::to_string(value));
}

Json& cell(Json& json, const tmeter::Cell& cell) {
  if (cell.is_int()) return exact(json, cell.count().value());
  if (cell.is_zero_by_rule()) return json.text("0");
  if (cell.is_unknown()) return json.text("?");
  if (cell.is_unavailable()) return json.text("-");
  if (cell.in_module()) return json.text("^");
  if (cell.empty()) return json.null();
  const double v = cell.real();
  if (std::isfinite(v)) return json.shortest(v);
  return json.text(std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

}  // namespace html_report
