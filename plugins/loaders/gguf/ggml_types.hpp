// The types of tensors in GGUF files, with the sizes of their blocks: ggml's type_traits (ggml.c,
// ggml-common.h of llama.cpp d99724f) and GGML_QUANT_SIZES of the package gguf 0.19.0.
#pragma once
#include <tmeter/abi/dtype.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace gguf {

struct GgmlType {
  int32_t id;
  std::string_view encoding;  // "ggml.q4_k"; the name after the dot is ggml's
  int32_t dtype;              // of elements that are stored one by one; UNDEFINED: in blocks
  int64_t block_elements;     // 0: unknown
  int64_t block_bytes;

  bool in_blocks() const { return dtype == TMETER_DTYPE_UNDEFINED; }
  bool is_integer() const {
    return dtype == TMETER_DTYPE_INT8 || dtype == TMETER_DTYPE_INT16 ||
           dtype == TMETER_DTYPE_INT32 || dtype == TMETER_DTYPE_INT64;
  }
};

inline constexpr int32_t kInBlocks = TMETER_DTYPE_UNDEFINED;

inline constexpr std::array<GgmlType, 43> kGgmlTypes{{
    {0, "ggml.f32", TMETER_DTYPE_FLOAT32, 1, 4},
    {1, "ggml.f16", TMETER_DTYPE_FLOAT16, 1, 2},
    {2, "ggml.q4_0", kInBlocks, 32, 18},
    {3, "ggml.q4_1", kInBlocks, 32, 20},
    {6, "ggml.q5_0", kInBlocks, 32, 22},
    {7, "ggml.q5_1", kInBlocks, 32, 24},
    {8, "ggml.q8_0", kInBlocks, 32, 34},
    {9, "ggml.q8_1", kInBlocks, 32, 36},
    {10, "ggml.q2_k", kInBlocks, 256, 84},
    {11, "ggml.q3_k", kInBlocks, 256, 110},
    {12, "ggml.q4_k", kInBlocks, 256, 144},
    {13, "ggml.q5_k", kInBlocks, 256, 176},
    {14, "ggml.q6_k", kInBlocks, 256, 210},
    {15, "ggml.q8_k", kInBlocks, 256, 292},
    {16, "ggml.iq2_xxs", kInBlocks, 256, 66},
    {17, "ggml.iq2_xs", kInBlocks, 256, 74},
    {18, "ggml.iq3_xxs", kInBlocks, 256, 98},
    {19, "ggml.iq1_s", kInBlocks, 256, 50},
    {20, "ggml.iq4_nl", kInBlocks, 32, 18},
    {21, "ggml.iq3_s", kInBlocks, 256, 110},
    {22, "ggml.iq2_s", kInBlocks, 256, 82},
    {23, "ggml.iq4_xs", kInBlocks, 256, 136},
    {24, "ggml.i8", TMETER_DTYPE_INT8, 1, 1},
    {25, "ggml.i16", TMETER_DTYPE_INT16, 1, 2},
    {26, "ggml.i32", TMETER_DTYPE_INT32, 1, 4},
    {27, "ggml.i64", TMETER_DTYPE_INT64, 1, 8},
    {28, "ggml.f64", TMETER_DTYPE_FLOAT64, 1, 8},
    {29, "ggml.iq1_m", kInBlocks, 256, 56},
    {30, "ggml.bf16", TMETER_DTYPE_BFLOAT16, 1, 2},
    {34, "ggml.tq1_0", kInBlocks, 256, 54},
    {35, "ggml.tq2_0", kInBlocks, 256, 66},
    {39, "ggml.mxfp4", kInBlocks, 32, 17},
    {40, "ggml.nvfp4", kInBlocks, 64, 36},
    {41, "ggml.q1_0", kInBlocks, 128, 18},
    {42, "ggml.q2_0", kInBlocks, 64, 18},
    // Removed from ggml. The sizes of blocks are not needed: the next tensor's offset determines
    // the bytes.
    {4, "ggml.q4_2", kInBlocks, 0, 0},
    {5, "ggml.q4_3", kInBlocks, 0, 0},
    {31, "ggml.q4_0_4_4", kInBlocks, 0, 0},
    {32, "ggml.q4_0_4_8", kInBlocks, 0, 0},
    {33, "ggml.q4_0_8_8", kInBlocks, 0, 0},
    {36, "ggml.iq4_nl_4_4", kInBlocks, 0, 0},
    {37, "ggml.iq4_nl_4_8", kInBlocks, 0, 0},
    {38, "ggml.iq4_nl_8_8", kInBlocks, 0, 0},
}};

/// Other blocks under an id of ggml. The offsets in a file show which of them it has.
inline constexpr std::array<GgmlType, 2> kOtherBlocks{{
    // float32 scales, as in ggml of 2023 and in gguf-py's table.
    {9, "ggml.q8_1_f32", kInBlocks, 32, 40},
    // Q2_0 of PrismML's fork (Bonsai) has 128 elements.
    {42, "prism.q2_0", kInBlocks, 128, 34},
}};

/// Null for an id that ggml does not have.
inline const GgmlType* ggml_type(int32_t id) {
  const auto it = std::find_if(kGgmlTypes.begin(), kGgmlTypes.end(),
                               [&](const GgmlType& t) { return t.id == id; });
  return it == kGgmlTypes.end() ? nullptr : it;
}

}  // namespace gguf
