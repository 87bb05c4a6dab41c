// Decoding of ggml's blocks into float32: every type of ggml_types.hpp that is stored in blocks.
// The arithmetic and its order are those of gguf-py (package gguf 0.19.0, quants.py), so each bit
// is the same. Needs no host; any thread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gguf {

/// Decodes `count` whole blocks. `out` has room for all their elements.
using DecodeBlocks = void (*)(const uint8_t* blocks, size_t count, float* out);

/// How a block stores the scale of its elements.
enum class ScaleKind { kNone, kHalf, kFloat, kE8m0, kUe4m3, kSplitHalf };

/// Numbers of several bytes in a block, whose bytes are swapped in a big-endian file.
struct Field {
  uint16_t offset, width, count;
};

struct BlockFormat {
  std::string_view encoding;
  size_t elements, bytes;
  ScaleKind scale_kind;
  std::array<int16_t, 2> scales;  // their places in a block; -1: none
  /// Swapped in big-endian files, as gguf-py's gguf_convert_endian.py writes them and as ggml
  /// itself writes them on such a machine.
  std::array<Field, 2> fields;
  /// False for IQ2_XXS and IQ3_XXS: on big-endian machines ggml's writer and reader disagree.
  bool has_big_endian = true;
};

/// Every format that can be decoded.
inline constexpr std::array<BlockFormat, 33> kBlockFormats{{
    {"ggml.q4_0", 32, 18, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}}}},
    {"ggml.q4_1", 32, 20, ScaleKind::kHalf, {0, 2}, {{{0, 2, 2}}}},
    {"ggml.q5_0", 32, 22, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}, {2, 4, 1}}}},
    {"ggml.q5_1", 32, 24, ScaleKind::kHalf, {0, 2}, {{{0, 2, 2}, {4, 4, 1}}}},
    {"ggml.q8_0", 32, 34, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}}}},
    {"ggml.q8_1", 32, 36, ScaleKind::kHalf, {0, -1}, {{{0, 2, 2}}}},
    {"ggml.q8_1_f32", 32, 40, ScaleKind::kFloat, {0, -1}, {{{0, 4, 2}}}},
    {"ggml.q2_k", 256, 84, ScaleKind::kHalf, {80, 82}, {{{80, 2, 2}}}},
    {"ggml.q3_k", 256, 110, ScaleKind::kHalf, {108, -1}, {{{108, 2, 1}}}},
    {"ggml.q4_k", 256, 144, ScaleKind::kHalf, {0, 2}, {{{0, 2, 2}}}},
    {"ggml.q5_k", 256, 176, ScaleKind::kHalf, {0, 2}, {{{0, 2, 2}}}},
    {"ggml.q6_k", 256, 210, ScaleKind::kHalf, {208, -1}, {{{208, 2, 1}}}},
    {"ggml.q8_k", 256, 292, ScaleKind::kFloat, {0, -1}, {{{0, 4, 1}}}},
    {"ggml.iq2_xxs", 256, 66, ScaleKind::kHalf, {0, -1}, {}, false},
    {"ggml.iq2_xs", 256, 74, ScaleKind::kHalf, {0, -1}, {{{0, 2, 33}}}},
    {"ggml.iq3_xxs", 256, 98, ScaleKind::kHalf, {0, -1}, {}, false},
    {"ggml.iq1_s", 256, 50, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}, {34, 2, 8}}}},
    {"ggml.iq4_nl", 32, 18, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}}}},
    {"ggml.iq3_s", 256, 110, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}}}},
    {"ggml.iq2_s", 256, 82, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}}}},
    {"ggml.iq4_xs", 256, 136, ScaleKind::kHalf, {0, -1}, {{{0, 2, 2}}}},
    {"ggml.iq1_m", 256, 56, ScaleKind::kSplitHalf, {48, -1}, {{{48, 2, 4}}}},
    {"ggml.tq1_0", 256, 54, ScaleKind::kHalf, {52, -1}, {{{52, 2, 1}}}},
    {"ggml.tq2_0", 256, 66, ScaleKind::kHalf, {64, -1}, {{{64, 2, 1}}}},
    {"ggml.mxfp4", 32, 17, ScaleKind::kE8m0, {0, -1}, {}},
    {"ggml.nvfp4", 64, 36, ScaleKind::kUe4m3, {0, -1}, {}},
    {"ggml.q1_0", 128, 18, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}}}},
    {"ggml.q2_0", 64, 18, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}}}},
    {"prism.q2_0", 128, 34, ScaleKind::kHalf, {0, -1}, {{{0, 2, 1}}}},
    // Elements of big-endian files; elements of little-endian files are streamed unchanged.
    {"ggml.f32", 1, 4, ScaleKind::kNone, {-1, -1}, {{{0, 4, 1}}}},
    {"ggml.f16", 1, 2, ScaleKind::kNone, {-1, -1}, {{{0, 2, 1}}}},
    {"ggml.bf16", 1, 2, ScaleKind::kNone, {-1, -1}, {{{0, 2, 1}}}},
    {"ggml.f64", 1, 8, ScaleKind::kNone, {-1, -1}, {{{0, 8, 1}}}},
}};

/// Null for an encoding that cannot be decoded.
const BlockFormat* block_format(std::string_view encoding);

/// The decoder of one of kBlockFormats, for this processor.
DecodeBlocks decoder_of(const BlockFormat& format);

/// Decodes `count` whole blocks of a big-endian file.
void decode_big_endian(const BlockFormat& format, const uint8_t* blocks, size_t count, float* out);

/// The first block with a scale that is NaN or infinite, as ggml_validate_row_data (ggml-quants.c)
/// refuses it; empty if all are finite.
std::optional<size_t> first_bad_scale(const BlockFormat& format, const uint8_t* blocks,
                                      size_t count, bool big_endian);

// The inner loops: one function for each format, compiled for several instruction sets.

/// Null for an encoding that has none.
DecodeBlocks kernel_of(std::string_view encoding);

}  // namespace gguf
