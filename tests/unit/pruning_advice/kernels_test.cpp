// The loops over a weight's elements, compared with plain loops, for every position of vector
// ends.
#include "plugins/advice/pruning/kernels.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "tests/unit/instruction_sets.hpp"

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Of a hundred elements, `zeros` are zeros, of both signs.
std::vector<float> weights(size_t n, unsigned zeros) {
  std::mt19937 random(static_cast<uint32_t>(n));
  std::normal_distribution<float> normal;
  std::vector<float> out(n);
  for (auto& v : out) {
    v = normal(random);
    if (random() % 100 < zeros) v *= 0;
  }
  return out;
}

TEST(PruningKernels, MagnitudesAreCountedAsOneByOne) {
  instruction_sets::each([] {
    for (const unsigned zeros : {0u, 50u, 90u, 100u}) {
      for (const size_t n : {1, 15, 16, 17, 33, 1000}) {
        for (size_t first = 0; first < std::min<size_t>(n, 3); ++first) {
          const auto x = weights(n, zeros);
          std::vector<uint64_t> seen(0x7f80), expected(0x7f80);
          for (size_t i = first; i < n; ++i)
            ++expected[(std::bit_cast<uint32_t>(x[i]) & 0x7fffffff) >> 16];
          ASSERT_TRUE(pruning::count_magnitudes(x.data() + first, n - first, seen.data()));
          ASSERT_EQ(seen, expected) << n << " from " << first;
        }
      }
    }
  });
}

TEST(PruningKernels, NonFiniteElementsAreFoundAtAnyPosition) {
  instruction_sets::each([] {
    std::vector<uint64_t> bins(0x7f80);
    for (const float bad : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()}) {
      for (size_t at = 0; at < 35; ++at) {
        auto x = weights(35, 20);
        x[at] = bad;
        ASSERT_FALSE(pruning::count_magnitudes(x.data(), x.size(), bins.data())) << at;
      }
    }
    EXPECT_EQ(std::count(bins.begin(), bins.end(), uint64_t{0}), 0x7f80);
  });
}

TEST(PruningKernels, SquaresOfARowAreAddedAsOneByOne) {
  instruction_sets::each([] {
    for (const size_t n : {1, 4, 7, 28, 32, 36, 61, 64, 1004}) {
      const auto x = weights(n, 30);
      std::vector<double> seen(n, 1.0);
      const auto out = pruning::add_squares(x.data(), n, n % 4 == 0, seen.data());
      double all = 0, kept = 0;
      for (size_t i = 0; i < n; ++i) {
        all += double{x[i]} * double{x[i]};
        EXPECT_EQ(seen[i], 1.0 + double{x[i]} * double{x[i]});
      }
      for (size_t i = 0; n % 4 == 0 && i < n; i += 4) {
        std::vector<double> four;
        for (size_t k = i; k < i + 4; ++k) four.push_back(double{x[k]} * double{x[k]});
        std::sort(four.begin(), four.end());
        kept += four[2] + four[3];
      }
      EXPECT_NEAR(out.all, all, 1e-14 * all) << n;
      EXPECT_NEAR(out.kept, kept, 1e-14 * kept) << n;
    }
  });
}

}  // namespace
