#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic.cpp"
#include "arithmetic.hpp"

#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace measure::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Input that is read in each round. The compiler must assume that the memory changes, and cannot
/// hoist the work out of the loop.
inline void may_change(const void* p) { asm volatile("" : : "r"(p) : "memory"); }

constexpr size_t kMaxVector = 256;  // bytes of the widest vectors
constexpr size_t kChains = 12;  // independent chains, enough to hide the latency of all known cores

/// Input of the kernels: a vector for each chain. All elements are 1, unknown to the compiler.
template <class T>
struct Inputs {
  static constexpr size_t kMaxLanes = kMaxVector / sizeof(T);
  HWY_ALIGN T x[kChains * kMaxLanes];
  explicit Inputs(T one = static_cast<T>(1)) {
    for (auto& v : x) v = one;
  }
  /// The input of chain `i`. Chains with equal input and start would be merged by the compiler.
  template <class D>
  const T* at(D d, size_t i) const {
    return x + i * hn::Lanes(d);
  }
};

/// Repeats `step(v, i)` on 12 independent vectors and keeps their sum.
template <class D, class Step>
HWY_INLINE double rounds_of(D d, size_t rounds, const void* inputs, Step step) {
  using T = hn::TFromD<D>;
  const Inputs<T> from;
  may_change(&from);
  const auto start = [&](size_t i) HWY_ATTR { return hn::Load(d, from.at(d, i)); };
  auto a = start(0), b = start(1), c = start(2), e = start(3), f = start(4), g = start(5);
  auto h = start(6), i = start(7), j = start(8), k = start(9), l = start(10), m = start(11);
  for (size_t n = 0; n < rounds; ++n) {
    may_change(inputs);
    step(a, 0), step(b, 1), step(c, 2), step(e, 3), step(f, 4), step(g, 5);
    step(h, 6), step(i, 7), step(j, 8), step(k, 9), step(l, 10), step(m, 11);
  }
  const auto sum = hn::Add(
      hn::Add(hn::Add(a, b), hn::Add(c, e)),
      hn::Add(hn::Add(hn::Add(f, g), hn::Add(h, i)), hn::Add(hn::Add(j, k), hn::Add(l, m))));
  HWY_ALIGN T out[kMaxVector / sizeof(T)];
  hn::Store(sum, d, out);
  may_change(out);
  return static_cast<double>(rounds * kChains);
}

/// Multiplies each vector by a constant and adds a constant: the compiler must not reorder
/// floating-point arithmetic, so it executes each step.
template <class T>
double mac_of(size_t rounds) {
  const hn::ScalableTag<T> d;
  const Inputs<T> in;
  const double vectors = rounds_of(d, rounds, &in, [&](auto& v, size_t) HWY_ATTR {
    v = hn::MulAdd(v, hn::Load(d, in.x), hn::Load(d, in.at(d, 1)));
  });
  return vectors * static_cast<double>(hn::Lanes(d));
}

double mac_int32(size_t rounds) {
  const hn::ScalableTag<int32_t> d;
  const Inputs<int32_t> in;
  const double vectors = rounds_of(d, rounds, &in, [&](auto& v, size_t) HWY_ATTR {
    v = hn::Add(hn::Mul(v, hn::Load(d, in.x)), hn::Load(d, in.at(d, 1)));
  });
  return vectors * static_cast<double>(hn::Lanes(d));
}

template <class T>
double op_of(size_t rounds) {
  const hn::ScalableTag<T> d;
  const Inputs<T> in;
  const double vectors = rounds_of(
      d, rounds, &in, [&](auto& v, size_t) HWY_ATTR { v = hn::Add(v, hn::Load(d, in.x)); });
  return vectors * static_cast<double>(hn::Lanes(d));
}

/// Types of two bytes that are computed in float32: each chain converts its own input.
template <class Narrow, bool kMultiply>
double widened(size_t rounds) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<Narrow, decltype(d)> narrow;
  constexpr bool kHalf = std::is_same_v<Narrow, hwy::float16_t>;
  const Inputs<uint16_t> bits(kHalf ? 0x3C00 : 0x3F80);  // 1
  const Inputs<float> in;
  may_change(&in);
  const auto factor = hn::Load(d, in.x);
  const double vectors = rounds_of(d, rounds, &bits, [&](auto& v, size_t i) HWY_ATTR {
    const auto x =
        hn::PromoteTo(d, hn::Load(narrow, reinterpret_cast<const Narrow*>(bits.at(d, i))));
    if constexpr (kMultiply) {
      v = hn::MulAdd(x, factor, v);
    } else {
      v = hn::Add(v, x);
    }
  });
  return vectors * static_cast<double>(hn::Lanes(d));
}

#if HWY_TARGET != HWY_SCALAR
constexpr const char* kInt8 = "widened to int16, pairs of products added in int32";
double mac_int8(size_t rounds) {
  const hn::ScalableTag<int32_t> d;
  const hn::Repartition<int16_t, decltype(d)> wide;
  const hn::Rebind<int8_t, decltype(wide)> narrow;
  const Inputs<int8_t> in;
  const Inputs<int16_t> factors;
  may_change(&factors);
  const auto factor = hn::Load(wide, factors.x);
  auto other = hn::Zero(d);
  const double vectors = rounds_of(d, rounds, &in, [&](auto& v, size_t i) HWY_ATTR {
    const auto x = hn::PromoteTo(wide, hn::Load(narrow, in.at(narrow, i)));
    v = hn::ReorderWidenMulAccumulate(d, x, factor, v, other);
  });
  HWY_ALIGN int32_t out[kMaxVector / 4];
  hn::Store(other, d, out);
  may_change(out);
  return vectors * static_cast<double>(hn::Lanes(wide));
}
#endif

constexpr Kernel kKernels[] = {
    {"peak.mac", "float32", "multiply-adds", mac_of<float>},
#if HWY_HAVE_FLOAT64
    {"peak.mac", "float64", "multiply-adds", mac_of<double>},
    {"peak.op", "float64", "additions", op_of<double>},
#endif
    {"peak.mac", "float16", "converted to float32, multiply-adds", widened<hwy::float16_t, true>},
    {"peak.mac", "bfloat16", "converted to float32, multiply-adds", widened<hwy::bfloat16_t, true>},
#if HWY_TARGET != HWY_SCALAR
    {"peak.mac", "int8", kInt8, mac_int8},
#endif
    {"peak.mac", "int32", "multiplications and additions", mac_int32},
    {"peak.op", "float32", "additions", op_of<float>},
    {"peak.op", "float16", "converted to float32, additions", widened<hwy::float16_t, false>},
    {"peak.op", "bfloat16", "converted to float32, additions", widened<hwy::bfloat16_t, false>},
    {"peak.op", "int8", "additions", op_of<int8_t>},
    {"peak.op", "int32", "additions", op_of<int32_t>},
    {"peak.op", "int64", "additions", op_of<int64_t>},
};

void add_kernels(std::vector<Kernel>& out) {
  out.insert(out.end(), std::begin(kKernels), std::end(kKernels));
}

}  // namespace measure::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace measure {

HWY_EXPORT(add_kernels);

std::vector<InstructionSet> instruction_sets() {
  auto sets = dot_product_sets();
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    InstructionSet set{hwy::TargetName(target), {}};
    HWY_DYNAMIC_DISPATCH(add_kernels)(set.kernels);
    sets.push_back(std::move(set));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return sets;
}

}  // namespace measure
#endif
