#include "json_splitter.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace pt2 {
namespace {

constexpr size_t kBlock = 64;

// Force-inlined into the AVX2 loop, so that gcc may use its target instructions (POPCNT) here too.
#define TMETER_IN_LOOP __attribute__((always_inline)) inline

/// One bit for each byte of a block.
struct Masks {
  uint64_t quotes = 0, backslashes = 0, opening = 0, closing = 0;
};

/// Byte by byte, for other processors.
struct Portable {
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
struct Avx2 {
  TMETER_IN_LOOP TMETER_WITH_AVX2 static uint64_t equal(__m256i low, __m256i high, char c) {
    const auto pattern = _mm256_set1_epi8(c);
    const auto bits = [&](__m256i half) __attribute__((always_inline, target("avx2"))) {
      return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, pattern)));
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
  /// Prefix XOR as a carry-less product with all ones.
  TMETER_WITH_AVX2 static uint64_t running_parity(uint64_t bits) {
    const auto factor = _mm_set_epi64x(0, static_cast<int64_t>(bits));
    return static_cast<uint64_t>(
        _mm_cvtsi128_si64(_mm_clmulepi64_si128(factor, _mm_set1_epi8(-1), 0)));
  }
};
#endif

TMETER_IN_LOOP size_t count_bits(uint64_t bits) { return static_cast<size_t>(std::popcount(bits)); }

/// Marks the bytes inside strings; keeps its state between blocks.
class StringMask {
 public:
  template <class Isa>
  TMETER_IN_LOOP uint64_t inside(const Masks& m, Isa) {
    const uint64_t quotes = m.quotes & ~escaped(m.backslashes);
    const uint64_t inside = Isa::running_parity(quotes) ^ carried_;
    carried_ = inside >> 63 ? ~uint64_t{0} : 0;
    return inside;
  }

 private:
  /// Bytes after an unescaped backslash, which is every second one in a run. Adding the first bit
  /// of each run that starts at an odd position carries through it, which distinguishes the two
  /// kinds.
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

class PieceFinder {
 public:
  PieceFinder(size_t piece, Extent& out) : piece_(piece), out_(out) {}

  /// Returns false once the closing bracket is found. `offset` counts from the byte after the
  /// opening one.
  template <class Isa>
  TMETER_IN_LOOP bool block(const Masks& m, uint64_t counted, size_t offset, Isa,
                            const char* bytes) {
    const uint64_t opening = m.opening & counted, closing = m.closing & counted;
    const auto closed = count_bits(closing);
    // Nothing to record: the block is inside an item, or the piece is still too small.
    const bool is_small = offset + kBlock - begin_ < piece_;
    if (depth_ > closed || (is_small && !ends_in(opening, closing, closed))) {
      depth_ += count_bits(opening) - closed;
      return true;
    }
    for (uint64_t left = opening | closing | (Isa::commas(bytes) & counted); left != 0;
         left &= left - 1) {
      const int at = std::countr_zero(left);
      const uint64_t bit = uint64_t{1} << at;
      if (!visit(opening & bit, closing & bit, offset + static_cast<size_t>(at))) return false;
    }
    return true;
  }

 private:
  /// Whether the matching closing bracket is in the block.
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

template <class Isa>
TMETER_IN_LOOP bool find_extent_with(std::string_view text, size_t at, const ScanOptions& options,
                                     Extent& out) {
  constexpr size_t kBytesBetweenChecks = 1 << 21;
  // The hardware prefetcher stops at page boundaries, which would cost a third of the time.
  constexpr size_t kPrefetchDistance = 2048;
  out.opening = text[at];
  const auto rest = text.substr(at + 1);
  out.ends.clear();
  PieceFinder finder(options.piece, out);
  StringMask strings;
  for (size_t offset = 0; offset < rest.size(); offset += kBlock) {
    if (options.between && offset % kBytesBetweenChecks == 0) options.between();
    const char* const bytes = rest.data() + offset;
    __builtin_prefetch(bytes + kPrefetchDistance);
    const auto masks = Isa::masks(bytes);
    uint64_t counted = ~strings.inside(masks, Isa());
    if (rest.size() - offset < kBlock) counted &= (uint64_t{1} << (rest.size() - offset)) - 1;
    if (finder.block(masks, counted, offset, Isa(), bytes)) continue;
    out.text = rest.substr(0, out.ends.back());
    return true;
  }
  return false;
}

#ifdef __x86_64__
TMETER_WITH_AVX2 bool find_extent_avx2(std::string_view text, size_t at, const ScanOptions& options,
                                       Extent& out) {
  return find_extent_with<Avx2>(text, at, options, out);
}

/// Implies BMI, POPCNT and PCLMUL. Uses simdjson's detection: CPUID is slow in virtual machines.
bool has_avx2() {
  const auto chosen = simdjson::get_active_implementation()->name();
  return chosen == "haswell" || chosen == "icelake";
}
#endif

}  // namespace

bool find_extent_portable(std::string_view text, size_t at, const ScanOptions& options,
                          Extent& out) {
  return find_extent_with<Portable>(text, at, options, out);
}

bool find_extent(std::string_view text, size_t at, const ScanOptions& options, Extent& out) {
#ifdef __x86_64__
  if (has_avx2()) return find_extent_avx2(text, at, options, out);
#endif
  return find_extent_portable(text, at, options, out);
}

namespace {

/// Walks the tables that lead to the paths and skips everything else.
class Splitter {
 public:
  Splitter(std::string_view text, const SplitOptions& options, std::string& rest, Extents& extents)
      : text_(text), options_(options), rest_(rest), extents_(extents) {}

  bool run() {
    space();
    if (!table("")) return false;
    rest_.append(text_.substr(copied_));
    return !extents_.empty();
  }

 private:
  bool table(const std::string& path) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      std::string_view key;
      if (!name(key) || !take(':') ||
          !value(path.empty() ? std::string(key) : path + "." + std::string(key)))
        return false;
    } while (take(','));
    return take('}');
  }

  bool value(const std::string& path) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c == '"') {
      std::string_view skipped;
      return name(skipped);
    }
    if (c == '{' && leads_to_requested_path(path)) return table(path);
    if (c == '{' || c == '[') return extent(path);
    at_ = std::min(text_.find_first_of(",}", at_), text_.size());
    return true;
  }

  bool extent(const std::string& path) {
    Extent found;
    if (!find_extent(text_, at_, options_.scan, found)) return false;
    const size_t begin = at_ + 1, end = begin + found.text.size();
    const bool is_listed = std::ranges::find(options_.paths, path) != options_.paths.end();
    if (is_listed && found.text.size() >= options_.list) {
      rest_.append(text_.substr(copied_, begin - copied_));
      copied_ = end;
      if (!extents_.emplace(path, std::move(found)).second) return false;
    }
    at_ = end + 1;
    space();
    return true;
  }

  bool leads_to_requested_path(const std::string& path) const {
    return std::ranges::any_of(options_.paths, [&](std::string_view p) {
      return p.size() > path.size() && p.starts_with(path) && p[path.size()] == '.';
    });
  }

  bool name(std::string_view& out) {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    const size_t begin = at_ + 1;
    for (at_ = begin; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    if (at_ >= text_.size()) return false;
    out = text_.substr(begin, at_ - begin);
    ++at_;
    space();
    return true;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    space();
    return true;
  }
  void space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  std::string_view text_;
  const SplitOptions& options_;
  std::string& rest_;
  Extents& extents_;
  size_t at_ = 0, copied_ = 0;
};

}  // namespace

bool split(std::string_view text, const SplitOptions& options, std::string& rest,
           Extents& extents) {
  if (options.paths.empty() || text.size() < options.text) return false;
  if (Splitter(text, options, rest, extents).run()) return true;
  rest.clear();
  extents.clear();
  return false;
}

}  // namespace pt2
