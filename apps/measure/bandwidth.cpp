#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bandwidth.cpp"
#include "bandwidth.hpp"

#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "timing.hpp"

HWY_BEFORE_NAMESPACE();
namespace measure::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// `n` is a multiple of eight vectors.
void triad(float* HWY_RESTRICT a, const float* HWY_RESTRICT b, const float* HWY_RESTRICT c,
           size_t n) {
  const hn::ScalableTag<float> d;
  const auto s = hn::Set(d, 3.0f);
  const size_t step = hn::Lanes(d);
  for (size_t i = 0; i < n; i += 4 * step) {
    for (size_t k = i; k < i + 4 * step; k += step)
      hn::Store(hn::MulAdd(s, hn::Load(d, c + k), hn::Load(d, b + k)), d, a + k);
  }
}

float sum(const float* a, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t step = hn::Lanes(d);
  auto p = hn::Zero(d), q = p, r = p, s = p, t = p, u = p, v = p, w = p;
  for (size_t i = 0; i < n; i += 8 * step) {
    p = hn::Add(p, hn::Load(d, a + i)), q = hn::Add(q, hn::Load(d, a + i + step));
    r = hn::Add(r, hn::Load(d, a + i + 2 * step)), s = hn::Add(s, hn::Load(d, a + i + 3 * step));
    t = hn::Add(t, hn::Load(d, a + i + 4 * step)), u = hn::Add(u, hn::Load(d, a + i + 5 * step));
    v = hn::Add(v, hn::Load(d, a + i + 6 * step)), w = hn::Add(w, hn::Load(d, a + i + 7 * step));
  }
  p = hn::Add(hn::Add(hn::Add(p, q), hn::Add(r, s)), hn::Add(hn::Add(t, u), hn::Add(v, w)));
  return hn::GetLane(hn::SumOfLanes(d, p));
}

}  // namespace measure::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace measure {

HWY_EXPORT(triad);
HWY_EXPORT(sum);

namespace {

constexpr size_t kMultiple = 1024;  // floats: eight vectors of any width

/// The three arrays of a thread, in one allocation.
struct Arrays {
  hwy::AlignedFreeUniquePtr<float[]> all;
  float *a, *b, *c;
};

Arrays arrays_of(size_t each) {
  // Different offsets within a page: a load at the offset of an earlier store would wait for it.
  const size_t apart = each + 256;
  auto all = hwy::AllocateAligned<float>(3 * apart);
  if (!all) return {};
  std::fill(all.get(), all.get() + 3 * apart, 1.0f);
  float* first = all.get();
  return {std::move(all), first, first + apart, first + 2 * apart};
}

}  // namespace

Bandwidth bandwidth(size_t bytes, unsigned threads) {
  const size_t each =
      std::max<size_t>(bytes / sizeof(float) / 3 / threads / kMultiple, 1) * kMultiple;
  std::vector<Arrays> arrays;
  for (unsigned t = 0; t < threads; ++t) arrays.push_back(arrays_of(each));
  for (const auto& a : arrays) {
    if (!a.all) return {};
  }
  const auto bytes_of = [each](size_t times, int streams) {
    return static_cast<double>(times) * static_cast<double>(each) * streams * sizeof(float);
  };
  const auto run_triad = HWY_DYNAMIC_DISPATCH(triad);
  const auto run_sum = HWY_DYNAMIC_DISPATCH(sum);
  const Work triads = [&](size_t times, unsigned t) {
    for (size_t i = 0; i < times; ++i) run_triad(arrays[t].a, arrays[t].b, arrays[t].c, each);
    return bytes_of(times, 3);
  };
  const Work sums = [&](size_t times, unsigned t) {
    volatile float kept = 0;
    for (size_t i = 0; i < times; ++i) {
      for (const float* p : {arrays[t].a, arrays[t].b, arrays[t].c}) kept = kept + run_sum(p, each);
    }
    return bytes_of(times, 3);
  };
  return {best_rate(triads, threads, {1e-3, 3, 12}), best_rate(sums, threads, {1e-3, 3, 12})};
}

}  // namespace measure
#endif
