#include "json_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace pt2 {
namespace {

constexpr size_t kBlock = 64;

/// One bit for each byte of a block.
struct Masks {
  uint64_t quotes = 0, backslashes = 0, opening = 0, closing = 0, commas = 0;
};

/// Of so many blocks.
using MasksOf = void (*)(const char* bytes, size_t blocks, Masks* out);

/// Byte by byte: for other processors.
void plain_masks(const char* bytes, size_t blocks, Masks* out) {
  for (size_t b = 0; b < blocks; ++b) {
    out[b] = {};
    for (size_t i = 0; i < kBlock; ++i) {
      const char c = bytes[b * kBlock + i];
      const uint64_t bit = uint64_t{1} << i;
      if (c == '"') out[b].quotes |= bit;
      if (c == '\\') out[b].backslashes |= bit;
      if (c == '[' || c == '{') out[b].opening |= bit;
      if (c == ']' || c == '}') out[b].closing |= bit;
      if (c == ',') out[b].commas |= bit;
    }
  }
}

#ifdef __x86_64__
/// 32 bytes at a time.
__attribute__((target("avx2"))) void avx2_masks(const char* bytes, size_t blocks, Masks* out) {
  const auto* at = reinterpret_cast<const __m256i*>(bytes);
  for (size_t b = 0; b < blocks; ++b) {
    Masks masks;
    for (int half = 0; half < 2; ++half) {
      const auto found = _mm256_loadu_si256(at++);
      const auto folded =
          _mm256_or_si256(found, _mm256_set1_epi8(0x20));  // '[' and '{' differ in it
#define TMETER_BITS(of, c)                                                                     \
  static_cast<uint64_t>(                                                                       \
      static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(of, _mm256_set1_epi8(c))))) \
      << (32 * half)
      masks.quotes |= TMETER_BITS(found, '"');
      masks.backslashes |= TMETER_BITS(found, '\\');
      masks.opening |= TMETER_BITS(folded, '{');
      masks.closing |= TMETER_BITS(folded, '}');
      masks.commas |= TMETER_BITS(found, ',');
#undef TMETER_BITS
    }
    out[b] = masks;
  }
}
#endif

// What is done for each block becomes part of the loop around it, and so uses the instructions the loop may use:
// bits are counted in one instead of twelve.
#define TMETER_IN_LOOP [[gnu::always_inline]] inline

TMETER_IN_LOOP size_t count_bits(uint64_t bits) { return static_cast<size_t>(std::popcount(bits)); }

/// Bit i of the result: the parity of the bits up to i.
TMETER_IN_LOOP uint64_t running_parity(uint64_t bits) {
  for (const int shift : {1, 2, 4, 8, 16, 32}) bits ^= bits << shift;
  return bits;
}

/// Which bytes stand inside texts, carried from block to block.
class InTexts {
 public:
  TMETER_IN_LOOP uint64_t inside(const Masks& m) {
    const uint64_t quotes = m.quotes & ~escaped(m.backslashes);
    const uint64_t inside = running_parity(quotes) ^ carried_;
    carried_ = inside >> 63 ? ~uint64_t{0} : 0;
    return inside;
  }

 private:
  /// Bytes behind a backslash that is not escaped itself. Backslashes are rare and mostly alone.
  uint64_t escaped(uint64_t backslashes) {
    uint64_t out = escape_first_ ? 1 : 0;
    if (backslashes == 0) return escape_first_ = false, out;
    escape_first_ = false;
    backslashes &= ~out;
    while (backslashes != 0) {
      const int at = std::countr_zero(backslashes);
      backslashes &= backslashes - 1;
      if (at == 63) {
        escape_first_ = true;
      } else {
        out |= uint64_t{2} << at;
        backslashes &= ~(uint64_t{2} << at);
      }
    }
    return out;
  }

  uint64_t carried_ = 0;
  bool escape_first_ = false;
};

class Measuring {
 public:
  Measuring(size_t piece, Extent& out) : piece_(piece), out_(out) {}

  /// False when the end has been found; `offset`: of the block, behind the opening bracket.
  TMETER_IN_LOOP bool block(const Masks& m, uint64_t counted, size_t offset) {
    const uint64_t opening = m.opening & counted, closing = m.closing & counted;
    const auto closed = count_bits(closing);
    // No item ends here, or it may, but the list does not, and the piece is not large enough yet.
    if (depth_ > closed || (depth_ == closed && offset + kBlock - begin_ < piece_)) {
      depth_ += count_bits(opening) - closed;
      return true;
    }
    for (uint64_t left = opening | closing | (m.commas & counted); left != 0; left &= left - 1) {
      const int at = std::countr_zero(left);
      const uint64_t bit = uint64_t{1} << at;
      if (!visit(opening & bit, closing & bit, offset + static_cast<size_t>(at))) return false;
    }
    return true;
  }

 private:
  bool visit(bool opens, bool closes, size_t at) {
    if (opens) {
      ++depth_;
    } else if (closes) {
      if (depth_ == 0) return end(at);
      --depth_;
    } else if (depth_ == 0 && at - begin_ >= piece_) {
      out_.ends.push_back(at);
      begin_ = at + 1;
    }
    return true;
  }
  bool end(size_t at) {
    out_.ends.push_back(at);
    return false;
  }

  size_t depth_ = 0, begin_ = 0, piece_;
  Extent& out_;
};

TMETER_IN_LOOP bool measure_with(MasksOf masks_of, std::string_view text, size_t at, const Measure& how,
                  Extent& out) {
  constexpr size_t kBatch = 32;  // blocks; their masks stay in the cache
  std::array<Masks, kBatch> masks;
  out.opening = text[at];
  const auto rest = text.substr(at + 1);
  out.ends.clear();
  Measuring measuring(how.piece, out);
  InTexts texts;
  for (size_t offset = 0; offset < rest.size();) {
    if (how.between && offset % (kBatch * kBlock << 10) == 0) how.between();
    const size_t blocks = std::min(kBatch, (rest.size() - offset + kBlock - 1) / kBlock);
    masks_of(rest.data() + offset, blocks, masks.data());
    for (size_t b = 0; b < blocks; ++b, offset += kBlock) {
      uint64_t counted = ~texts.inside(masks[b]);
      if (rest.size() - offset < kBlock) counted &= (uint64_t{1} << (rest.size() - offset)) - 1;
      if (measuring.block(masks[b], counted, offset)) continue;
      out.text = rest.substr(0, out.ends.back());
      return true;
    }
  }
  return false;
}

#ifdef __x86_64__
__attribute__((target("avx2,bmi,popcnt"))) bool measure_with_avx2(std::string_view text, size_t at,
                                                                  const Measure& how, Extent& out) {
  return measure_with(avx2_masks, text, at, how, out);
}

/// Every processor with AVX2 that there is has the others.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("popcnt");
}
#endif

}  // namespace

bool measure_plainly(std::string_view text, size_t at, const Measure& how, Extent& out) {
  return measure_with(plain_masks, text, at, how, out);
}

bool measure(std::string_view text, size_t at, const Measure& how, Extent& out) {
#ifdef __x86_64__
  if (has_avx2()) return measure_with_avx2(text, at, how, out);
#endif
  return measure_plainly(text, at, how, out);
}

}  // namespace pt2
