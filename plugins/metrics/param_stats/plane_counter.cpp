#include "plane_counter.hpp"

#include <cstring>

namespace param_stats {
namespace {

constexpr size_t kMany = 8192;  // elements: worth a table for each two planes

/// Adds to `out` how often each of n bytes, `step` apart, occurs.
inline void count_bytes(const uint8_t* at, size_t n, size_t step, Plane& out) {
  // Several counters a byte, as equal bytes often follow each other: adding to one and the same
  // would wait for the store before.
  std::array<std::array<uint32_t, 256>, 4> part{};
  auto &a = part[0], &b = part[1], &c = part[2], &d = part[3];
  size_t i = 0;
  for (; i + 4 <= n; i += 4, at += 4 * step) {
    ++a[at[0]];
    ++b[at[step]];
    ++c[at[2 * step]];
    ++d[at[3 * step]];
  }
  for (; i < n; ++i, at += step) ++a[*at];
  for (size_t k = 0; k < out.size(); ++k) out[k] += uint64_t{a[k]} + b[k] + c[k] + d[k];
}

uint16_t word_at(const uint8_t* at) {
  uint16_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// The bits in which n elements differ, or some of each word if each has some.
template <class Element>
uint64_t differing(const uint8_t* at, size_t n) {
  constexpr size_t kBlock = 1024;
  Element first, bits = 0;
  std::memcpy(&first, at, sizeof first);
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = std::min(n, begin + kBlock);
    for (size_t i = begin; i < end; ++i) {
      Element one;
      std::memcpy(&one, at + i * sizeof one, sizeof one);
      bits |= one ^ first;
    }
    bool all = true;
    for (size_t w = 0; w < sizeof(Element) / 2; ++w) all = all && (bits >> 16 * w & 0xffff);
    if (all) break;
  }
  return bits;
}

/// The address in a register, as in float_looks.cpp.
uint8_t* at_hand(uint8_t* at) {
  asm("" : "+r"(at));
  return at;
}

template <size_t kStep>
void count_untested(const uint8_t* at, size_t n, LowHalves& halves) {
  uint8_t* const counters = halves.counters();
  const auto one = [&](const uint8_t* word) { ++*at_hand(counters + word_at(word)); };
  const uint8_t* const fours = at + n / 4 * 4 * kStep;
  const uint8_t* const end = at + n * kStep;
  for (; at < fours; at += 4 * kStep)
    one(at), one(at + kStep), one(at + 2 * kStep), one(at + 3 * kStep);
  for (; at < end; at += kStep) one(at);
}

/// Two planes of elements of kStep bytes. Where a counter runs over, numbers repeat: bytes are
/// counted then, with several counters for each.
template <size_t kStep>
void count_words(const uint8_t* at, size_t n, LowHalves& halves, Plane& low, Plane& high) {
  halves.count(n, [&](size_t begin, size_t end) {
    const auto* from = at + begin * kStep;
    const size_t count = end - begin;
    switch (halves.way()) {
      case LowHalves::kUntested:
        count_untested<kStep>(from, count, halves);
        return halves.add_zeros(0, count, LowHalves::kUntested);
      case LowHalves::kTakenBack:
        for (size_t i = 0; i < count; ++i) --halves.counters()[word_at(from + i * kStep)];
        return halves.add_zeros(0, count, LowHalves::kTakenBack);
      case LowHalves::kTested:
        count_bytes(from, count, kStep, low);
        count_bytes(from + 1, count, kStep, high);
    }
  });
}

}  // namespace

void PlaneCounter::add(std::span<const uint8_t> elements) {
  if (size_ == 0) return;
  const size_t n = elements.size() / size_;
  if (n >= kMany && (size_ == 4 || size_ == 8)) return add_words(elements.data(), n);
  for (size_t p = 0; p < planes_.size(); ++p)
    count_bytes(elements.data() + p, n, size_, planes_[p]);
}

/// Words that are the same in all elements, as the upper ones of small integers, are not counted.
void PlaneCounter::add_words(const uint8_t* at, size_t n) {
  const uint64_t bits = size_ == 4 ? differing<uint32_t>(at, n) : differing<uint64_t>(at, n);
  for (size_t w = 0; w < words_.size(); ++w, at += 2) {
    auto &low = planes_[2 * w], &high = planes_[2 * w + 1];
    if (!(bits >> 16 * w & 0xffff)) {
      low[at[0]] += n;
      high[at[1]] += n;
      continue;
    }
    if (!words_[w]) words_[w] = std::make_unique<LowHalves>();
    (size_ == 4 ? count_words<4> : count_words<8>)(at, n, *words_[w], low, high);
  }
}

std::vector<Plane> PlaneCounter::planes() const {
  auto out = planes_;
  for (size_t w = 0; w < words_.size(); ++w) {
    if (!words_[w]) continue;
    Plane low, high;
    words_[w]->planes(low, high);
    for (size_t b = 0; b < low.size(); ++b) out[2 * w][b] += low[b], out[2 * w + 1][b] += high[b];
  }
  return out;
}

void PlaneCounter::merge(const PlaneCounter& other) {
  const auto theirs = other.planes();
  for (size_t p = 0; p < planes_.size(); ++p)
    for (size_t b = 0; b < planes_[p].size(); ++b) planes_[p][b] += theirs[p][b];
}

double PlaneCounter::bits() const {
  double sum = 0;
  for (const auto& plane : planes()) sum += coded_bits(plane);
  return sum;
}

}  // namespace param_stats
