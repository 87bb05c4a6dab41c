// Blocks of every type, decoded to the same bits as by the package gguf (fixtures/gguf/blocks.json,
// written by fixtures/make_gguf.py), on every instruction set of this machine.
#include "plugins/loaders/gguf/blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tmeter/cpp/sha256.hpp>
#include <vector>

#include "plugins/loaders/gguf/ggml_types.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace gguf {
namespace {

constexpr size_t kBlocks = 2000;

/// make_gguf.py, `arbitrary`.
std::vector<uint8_t> arbitrary(size_t size, uint64_t seed) {
  std::vector<uint8_t> out(size + 8);
  for (size_t i = 0; 8 * i < size; ++i) {
    uint64_t z = (seed + i) * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
    std::memcpy(&out[8 * i], &z, 8);
  }
  out.resize(size);
  return out;
}

std::string digest(std::vector<float> values) {
  for (auto& v : values) {
    if (!std::isnan(v)) continue;
    constexpr uint32_t kNaN = 0x7fc00000;
    std::memcpy(&v, &kNaN, sizeof v);
  }
  return tmeter::sha256_hex(
      {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

std::string encoding_of(const std::string& name) {
  return name.find('.') == name.npos ? "ggml." + name : name;
}

nlohmann::json expected() {
  return nlohmann::json::parse(std::ifstream(std::string(FIXTURES) + "/blocks.json"));
}

TEST(GgufBlocks, AreDecodedAsByTheReferenceToTheBit) {
  const auto types = expected();
  ASSERT_EQ(types.size(), 29u);
  instruction_sets::each([&] {
    for (const auto& [name, reference] : types.items()) {
      const auto* format = block_format(encoding_of(name));
      ASSERT_NE(format, nullptr) << name;
      ASSERT_EQ(format->elements, reference["elements"].get<size_t>()) << name;
      ASSERT_EQ(format->bytes, reference["bytes"].get<size_t>()) << name;
      const auto blocks = arbitrary(kBlocks * format->bytes, format->bytes);
      std::vector<float> out(kBlocks * format->elements);
      decoder_of (*format)(blocks.data(), kBlocks, out.data());
      EXPECT_EQ(digest(out), reference["sha256"].get<std::string>()) << name;
    }
  });
}

TEST(GgufBlocks, EveryTypeInBlocksHasADecoderOfTheSameSizes) {
  for (const auto& type : kGgmlTypes) {
    if (!type.in_blocks() || type.block_elements == 0) continue;
    const auto* format = block_format(type.encoding);
    ASSERT_NE(format, nullptr) << type.encoding;
    EXPECT_EQ(static_cast<int64_t>(format->elements), type.block_elements) << type.encoding;
    EXPECT_EQ(static_cast<int64_t>(format->bytes), type.block_bytes) << type.encoding;
  }
  for (const auto& format : kBlockFormats)
    EXPECT_NE(decoder_of(format), nullptr) << format.encoding;
}

/// The same blocks as a big-endian machine stores them.
std::vector<uint8_t> as_big_endian(const BlockFormat& format, std::vector<uint8_t> blocks) {
  for (size_t i = 0; i < blocks.size(); i += format.bytes)
    for (const auto& field : format.fields)
      for (size_t k = 0; k < field.count; ++k) {
        auto* number = &blocks[i + field.offset + k * field.width];
        std::reverse(number, number + field.width);
      }
  return blocks;
}

TEST(GgufBlocks, BigEndianBlocksGiveTheSameElements) {
  for (const auto& format : kBlockFormats) {
    if (!format.has_big_endian) continue;
    const auto blocks = arbitrary(kBlocks * format.bytes, 7);
    std::vector<float> little(kBlocks * format.elements), big(little.size());
    decoder_of(format)(blocks.data(), kBlocks, little.data());
    const auto swapped = as_big_endian(format, blocks);
    decode_big_endian(format, swapped.data(), kBlocks, big.data());
    EXPECT_EQ(digest(big), digest(little)) << format.encoding;
    EXPECT_EQ(first_bad_scale(format, swapped.data(), kBlocks, true),
              first_bad_scale(format, blocks.data(), kBlocks, false))
        << format.encoding;
  }
}

TEST(GgufBlocks, AScaleThatIsNaNOrInfiniteIsFound) {
  for (const auto& format : kBlockFormats) {
    if (format.scale_kind == ScaleKind::kNone) continue;
    std::vector<uint8_t> blocks(3 * format.bytes);
    EXPECT_EQ(first_bad_scale(format, blocks.data(), 3, false), std::nullopt) << format.encoding;
    auto* last = &blocks[2 * format.bytes];
    for (const auto at : format.scales) {
      if (at < 0) continue;
      auto* scale = last + at;
      switch (format.scale_kind) {
        case ScaleKind::kFloat:
          scale[2] = 0x80, scale[3] = 0x7f;
          break;
        case ScaleKind::kSplitHalf:  // 0x7c00
          scale[5] = 0xc0, scale[7] = 0x70;
          break;
        case ScaleKind::kE8m0:
          scale[0] = 0xff;
          break;
        case ScaleKind::kUe4m3:
          scale[3] = 0x7f;
          break;
        default:
          scale[1] = 0xfc;  // minus infinity
      }
      EXPECT_EQ(first_bad_scale(format, blocks.data(), 3, false), 2u)
          << format.encoding << " at " << at;
      std::fill(last, last + format.bytes, uint8_t{0});
    }
  }
}

TEST(GgufBlocks, TheCheckOfSplitScalesAgreesWithTheDecoder) {
  const auto& format = *block_format("ggml.iq1_m");
  for (uint32_t half = 0; half < 0x10000; half += 0x40) {
    std::vector<uint8_t> block(format.bytes);
    for (int digit = 0; digit < 4; ++digit)
      block[49 + 2 * static_cast<size_t>(digit)] =
          static_cast<uint8_t>((half >> 4 * digit & 15) << 4);
    float out[256];
    decoder_of(format)(block.data(), 1, out);
    EXPECT_EQ(first_bad_scale(format, block.data(), 1, false).has_value(), !std::isfinite(out[0]))
        << half;
  }
}

}  // namespace
}  // namespace gguf
