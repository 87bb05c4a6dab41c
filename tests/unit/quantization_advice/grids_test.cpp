// Grids computed for many groups at once equal those of one group at a time, to the last bit.
#include <cmath>
#include <random>
#include <vector>

#include "plugins/advice/quantization/grid.hpp"
#include "tests/unit/instruction_sets.hpp"

namespace {

using namespace quantization;

/// Ranges of groups of all sizes including zero, with a spare end.
std::vector<Range> ranges_of(size_t n) {
  std::mt19937 random(static_cast<uint32_t>(n));
  std::uniform_real_distribution<float> exponent(-126, 126), share(0, 1);
  std::vector<Range> out(n);
  for (size_t i = 0; i < n; ++i) {
    const float size = i % 7 == 6 ? 0.f : std::exp2(exponent(random));
    out[i] = {-size * share(random), i % 5 == 4 ? 0.f : size};
    if (i % 11 == 10) out[i] = {-size, 0.f};
  }
  return out;
}

struct Ends {
  std::vector<float> lo, hi;
  explicit Ends(const std::vector<Range>& ranges) {
    for (const auto& r : ranges) lo.push_back(r.lo), hi.push_back(r.hi);
    lo.resize(lo.size() + kStoreSlack);
    hi.resize(hi.size() + kStoreSlack);
  }
};

TEST(QuantizationGrids, ManyIntegerGridsEqualSingleOnes) {
  instruction_sets::each([] {
    for (const size_t n : {1, 3, 16, 17, 128}) {
      const auto ranges = ranges_of(n);
      const Ends ends(ranges);
      for (const int bits : {4, 8}) {
        for (const bool symmetric : {false, true}) {
          std::vector<IntegerGroup> seen(n + kStoreSlack);
          integer_grids(ends.lo.data(), ends.hi.data(), n, bits, symmetric, 3.5f, seen.data());
          for (size_t i = 0; i < n; ++i) {
            const auto one = integer_grid(ranges[i], bits, symmetric, 3.5f);
            EXPECT_EQ(seen[i].inverse_step, one.inverse_step) << i;
            EXPECT_EQ(seen[i].lo, one.lo) << i;
            EXPECT_EQ(seen[i].hi, one.hi) << i;
            EXPECT_EQ(seen[i].weight, one.weight) << i;
          }
        }
      }
    }
  });
}

TEST(QuantizationGrids, ManyGridsOfLevelsEqualSingleOnes) {
  instruction_sets::each([] {
    for (const size_t n : {1, 16, 31, 128}) {
      const auto ranges = ranges_of(n);
      const Ends ends(ranges);
      for (const auto& scheme : kSchemes) {
        if (scheme.grid == Grid::kInteger || scheme.scope == Scope::kElement) continue;
        std::vector<LevelGroup> seen(n + kStoreSlack);
        level_grids(ends.lo.data(), ends.hi.data(), n, scheme, 3.5f, seen.data());
        for (size_t i = 0; i < n; ++i) {
          const auto one = level_grid(ranges[i], scheme, 3.5f);
          EXPECT_EQ(seen[i].inverse, one.inverse) << scheme.id << ' ' << i;
          EXPECT_EQ(seen[i].unit, one.unit) << scheme.id << ' ' << i;
        }
      }
    }
  });
}

}  // namespace
