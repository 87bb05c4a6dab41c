#include "json_scan.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace pt2 {
namespace {

constexpr size_t kBlock = 64;

// What is done for each block becomes part of the loop around it, and so uses the instructions the
// loop may use: bits are counted in one instead of twelve.
#define TMETER_IN_LOOP __attribute__((always_inline)) inline

/// One bit for each byte of a block.
struct Masks {
  uint64_t quotes = 0, backslashes = 0, opening = 0, closing = 0;
};

/// Byte by byte: for other processors.
struct Plainly {
  static Masks masks(const char* bytes) {
    Masks out;
    for (size_t i = 0; i < kBlock; ++i) {
      const char c = bytes[i];
      const uint64_t bit = uint64_t{1} << i;
      if (c == '"') out.quotes |= bit;
      if (c == '\\') out.backslashes |= bit;
      if (c == '[' || c == '{') out.opening |= bit;
      if (c == ']' || c == '}') out.closing |= bit;
    }
    return out;
  }
  static uint64_t commas(const char* bytes) {
    uint64_t out = 0;
    for (size_t i = 0; i < kBlock; ++i) out |= uint64_t{bytes[i] == ','} << i;
    return out;
  }
  /// Bit i of the result: the parity of the bits up to i.
  static uint64_t running_parity(uint64_t bits) {
    for (const int shift : {1, 2, 4, 8, 16, 32}) bits ^= bits << shift;
    return bits;
  }
};

#ifdef __x86_64__
#define TMETER_WITH_AVX2 __attribute__((target("avx2,bmi,popcnt,pclmul")))

/// 32 bytes at a time.
struct WithAvx2 {
  TMETER_IN_LOOP TMETER_WITH_AVX2 static uint64_t equal(__m256i low, __m256i high, char c) {
    const auto wanted = _mm256_set1_epi8(c);
    const auto bits = [&](__m256i half) __attribute__((always_inline, target("avx2"))) {
      return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, wanted)));
    };
    return bits(low) | static_cast<uint64_t>(bits(high)) << 32;
  }
  TMETER_IN_LOOP TMETER_WITH_AVX2 static __m256i half(const char* bytes, int which) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + which);
  }
  TMETER_WITH_AVX2 static Masks masks(const char* bytes) {
    const auto low = half(bytes, 0), high = half(bytes, 1);
    const auto bit = _mm256_set1_epi8(0x20);  // '[' and '{' differ in it
    const auto low_folded = _mm256_or_si256(low, bit), high_folded = _mm256_or_si256(high, bit);
    return {equal(low, high, '"'), equal(low, high, '\\'), equal(low_folded, high_folded, '{'),
            equal(low_folded, high_folded, '}')};
  }
  TMETER_WITH_AVX2 static uint64_t commas(const char* bytes) {
    return equal(half(bytes, 0), half(bytes, 1), ',');
  }
  /// A product without carries by ones everywhere.
  TMETER_WITH_AVX2 static uint64_t running_parity(uint64_t bits) {
    const auto factor = _mm_set_epi64x(0, static_cast<int64_t>(bits));
    return static_cast<uint64_t>(
        _mm_cvtsi128_si64(_mm_clmulepi64_si128(factor, _mm_set1_epi8(-1), 0)));
  }
};
#endif

TMETER_IN_LOOP size_t count_bits(uint64_t bits) { return static_cast<size_t>(std::popcount(bits)); }

/// Which bytes stand inside texts, carried from block to block.
class InTexts {
 public:
  template <class Reading>
  TMETER_IN_LOOP uint64_t inside(const Masks& m, Reading) {
    const uint64_t quotes = m.quotes & ~escaped(m.backslashes);
    const uint64_t inside = Reading::running_parity(quotes) ^ carried_;
    carried_ = inside >> 63 ? ~uint64_t{0} : 0;
    return inside;
  }

 private:
  /// Bytes behind a backslash that is not escaped itself: in a row of them every second. Rows that
  /// begin at an odd place are told from others by what adding their first bit carries over.
  TMETER_IN_LOOP uint64_t escaped(uint64_t backslashes) {
    constexpr uint64_t kEven = 0x5555555555555555;
    if (backslashes == 0) return std::exchange(escape_first_, 0);
    backslashes &= ~escape_first_;
    const uint64_t behind = backslashes << 1 | escape_first_;
    const uint64_t odd_starts = backslashes & ~kEven & ~behind;
    uint64_t rows = 0;
    escape_first_ = __builtin_add_overflow(odd_starts, backslashes, &rows) ? 1 : 0;
    return (kEven ^ rows << 1) & behind;
  }

  uint64_t carried_ = 0;
  uint64_t escape_first_ = 0;  // 1: the first byte of the next block is escaped
};

class Measuring {
 public:
  Measuring(size_t piece, Extent& out) : piece_(piece), out_(out) {}

  /// False when the end has been found; `offset`: of the block, behind the opening bracket.
  template <class Reading>
  TMETER_IN_LOOP bool block(const Masks& m, uint64_t counted, size_t offset, Reading,
                            const char* bytes) {
    const uint64_t opening = m.opening & counted, closing = m.closing & counted;
    const auto closed = count_bits(closing);
    // No item ends here, or some may, but the piece is not large enough yet and the list goes on.
    const bool is_small = offset + kBlock - begin_ < piece_;
    if (depth_ > closed || (is_small && !ends_in(opening, closing, closed))) {
      depth_ += count_bits(opening) - closed;
      return true;
    }
    for (uint64_t left = opening | closing | (Reading::commas(bytes) & counted); left != 0;
         left &= left - 1) {
      const int at = std::countr_zero(left);
      const uint64_t bit = uint64_t{1} << at;
      if (!visit(opening & bit, closing & bit, offset + static_cast<size_t>(at))) return false;
    }
    return true;
  }

 private:
  /// Whether more is closed somewhere in the block than is open there.
  TMETER_IN_LOOP bool ends_in(uint64_t opening, uint64_t closing, size_t closed) const {
    if (depth_ == closed) return false;
    size_t before = 0;
    for (uint64_t left = closing; left != 0; left &= left - 1, ++before)
      if (depth_ + count_bits(opening & ((left & -left) - 1)) == before) return true;
    return false;
  }
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

template <class Reading>
TMETER_IN_LOOP bool measure_with(std::string_view text, size_t at, const Measure& how,
                                 Extent& out) {
  constexpr size_t kBetween = 1 << 21;
  // What is fetched of its own accord ends with the page: a third of the time went by waiting
  // there.
  constexpr size_t kSoon = 2048;
  out.opening = text[at];
  const auto rest = text.substr(at + 1);
  out.ends.clear();
  Measuring measuring(how.piece, out);
  InTexts texts;
  for (size_t offset = 0; offset < rest.size(); offset += kBlock) {
    if (how.between && offset % kBetween == 0) how.between();
    const char* const bytes = rest.data() + offset;
    __builtin_prefetch(bytes + kSoon);
    const auto masks = Reading::masks(bytes);
    uint64_t counted = ~texts.inside(masks, Reading());
    if (rest.size() - offset < kBlock) counted &= (uint64_t{1} << (rest.size() - offset)) - 1;
    if (measuring.block(masks, counted, offset, Reading(), bytes)) continue;
    out.text = rest.substr(0, out.ends.back());
    return true;
  }
  return false;
}

#ifdef __x86_64__
TMETER_WITH_AVX2 bool measure_with_avx2(std::string_view text, size_t at, const Measure& how,
                                        Extent& out) {
  return measure_with<WithAvx2>(text, at, how, out);
}

/// Also BMI, POPCNT and PCLMUL. simdjson has asked the processor already, which in a virtual
/// machine takes longer than to read a small file.
bool has_avx2() {
  const auto chosen = simdjson::get_active_implementation()->name();
  return chosen == "haswell" || chosen == "icelake";
}
#endif

}  // namespace

bool measure_plainly(std::string_view text, size_t at, const Measure& how, Extent& out) {
  return measure_with<Plainly>(text, at, how, out);
}

bool measure(std::string_view text, size_t at, const Measure& how, Extent& out) {
#ifdef __x86_64__
  if (has_avx2()) return measure_with_avx2(text, at, how, out);
#endif
  return measure_plainly(text, at, how, out);
}

}  // namespace pt2
