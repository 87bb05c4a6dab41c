#include "blocks.hpp"

#include <algorithm>
#include <cstring>

namespace gguf {
namespace {

bool is_finite_half(uint16_t half) { return (half & 0x7c00) != 0x7c00; }

template <class T>
T read_at(const uint8_t* p, bool big_endian) {
  uint8_t bytes[sizeof(T)];
  std::memcpy(bytes, p, sizeof bytes);
  if (big_endian) std::reverse(bytes, bytes + sizeof bytes);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

bool has_finite_scales(const BlockFormat& format, const uint8_t* block, bool big_endian) {
  const auto* scale = block + format.scales[0];
  switch (format.scale_kind) {
    case ScaleKind::kNone:
      return true;
    case ScaleKind::kHalf:
      return std::all_of(format.scales.begin(), format.scales.end(), [&](int16_t at) {
        return at < 0 || is_finite_half(read_at<uint16_t>(block + at, big_endian));
      });
    case ScaleKind::kFloat:
      return (read_at<uint32_t>(scale, big_endian) & 0x7f800000) != 0x7f800000;
    case ScaleKind::kE8m0:
      return *scale != 0xff;
    case ScaleKind::kUe4m3:
      return std::none_of(scale, scale + 4, [](uint8_t x) { return x == 0x7f; });
    case ScaleKind::kSplitHalf:
      // The digit of the exponent's upper bits is the last word's, that of its lowest bit the third
      // one's.
      return (read_at<uint16_t>(scale + 6, big_endian) >> 12 & 7) != 7 ||
             (read_at<uint16_t>(scale + 4, big_endian) >> 12 & 12) != 12;
  }
  return true;
}

}  // namespace

const BlockFormat* block_format(std::string_view encoding) {
  const auto it = std::find_if(kBlockFormats.begin(), kBlockFormats.end(),
                               [&](const BlockFormat& f) { return f.encoding == encoding; });
  return it == kBlockFormats.end() ? nullptr : it;
}

DecodeBlocks decoder_of(const BlockFormat& format) { return kernel_of(format.encoding); }

void decode_big_endian(const BlockFormat& format, const uint8_t* blocks, size_t count, float* out) {
  constexpr size_t kMaxBlockBytes = 292;  // Q8_K
  uint8_t block[kMaxBlockBytes];
  const auto decode = decoder_of(format);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(block, blocks + i * format.bytes, format.bytes);
    for (const auto& field : format.fields)
      for (size_t k = 0; k < field.count; ++k) {
        auto* number = block + field.offset + k * field.width;
        std::reverse(number, number + field.width);
      }
    decode(block, 1, out + i * format.elements);
  }
}

std::optional<size_t> first_bad_scale(const BlockFormat& format, const uint8_t* blocks,
                                      size_t count, bool big_endian) {
  for (size_t i = 0; i < count; ++i)
    if (!has_finite_scales(format, blocks + i * format.bytes, big_endian)) return i;
  return std::nullopt;
}

}  // namespace gguf
