// A polynomial is found; a function that equals one only at a few points is not mistaken for one.
#include "core/symbolic/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tmeter::core {
namespace {

using P = Fittable::Point;
using Maybe = std::optional<int64_t>;

/// The formula of a function, or "none".
std::string fitted(
    const std::vector<SizeRange>& sizes, const std::function<Maybe(P)>& f,
    const std::function<bool(P)>& possible = [](P) { return true; }) {
  Fittable function{1, possible, [&](P p) {
                      EXPECT_TRUE(possible(p));
                      for (size_t i = 0; i < p.size(); ++i) {
                        EXPECT_GE(p[i], sizes[i].min);
                        EXPECT_LE(p[i], sizes[i].max);
                      }
                      return Fittable::Values{f(p)};
                    }};
  const std::vector<std::string_view> names{"a", "b", "c"};
  const auto found = fit_polynomials(sizes, function);
  return found[0] ? found[0]->text(names) : "none";
}

const SizeRange kAny{2, INT64_MAX, 8}, kBatch{1, 64, 4}, kSequence{2, 512, 32};

TEST(Fit, AttentionIsAPolynomialInBatchAndLength) {
  EXPECT_EQ(fitted({kBatch, kSequence},
                   [](P p) { return Maybe(2048 * p[0] * p[1] * p[1] + 3 * p[0] * p[1] + 5); }),
            "2,048·a·b² + 3·a·b + 5");
}

TEST(Fit, AConstantIsAPolynomial) {
  EXPECT_EQ(fitted({kAny}, [](P) { return Maybe(7); }), "7");
}

TEST(Fit, FloorDivisionIsNotAPolynomial) {
  EXPECT_EQ(fitted({kAny}, [](P p) { return Maybe(p[0] / 2); }), "none");
  EXPECT_EQ(fitted({kAny}, [](P p) { return Maybe(p[0] / 1000); }), "none");
  EXPECT_EQ(fitted({kBatch, kSequence}, [](P p) { return Maybe(p[0] * ((p[1] - 1) / 2 + 1)); }),
            "none");
}

TEST(Fit, MaximumAndMinimumAreNotPolynomials) {
  EXPECT_EQ(fitted({kAny}, [](P p) { return Maybe(std::max<int64_t>(p[0], 100)); }), "none");
  EXPECT_EQ(fitted({kAny}, [](P p) { return Maybe(std::min<int64_t>(p[0], 500'000)); }), "none");
  EXPECT_EQ(fitted({kBatch, kSequence}, [](P p) { return Maybe(std::max(p[0], p[1])); }), "none");
  // only the last size of the range differs
  EXPECT_EQ(fitted({kSequence}, [](P p) { return Maybe(std::min<int64_t>(p[0], 511)); }), "none");
}

TEST(Fit, AHiddenHighDegreeIsNoticed) {
  // the product vanishes at the most likely sizes
  EXPECT_EQ(fitted({kAny},
                   [](P p) {
                     int64_t hidden = 1;
                     for (int64_t root = 2; root <= 6; ++root) {
                       if (__builtin_mul_overflow(hidden, p[0] - root, &hidden)) return Maybe();
                     }
                     return Maybe(p[0] + hidden);
                   }),
            "none");
  EXPECT_EQ(
      fitted({kBatch, kSequence}, [](P p) { return Maybe(p[0] * p[0] * p[0] * p[1] * p[1]); }),
      "none");
}

TEST(Fit, DegreeFourIsTheHighest) {
  EXPECT_EQ(
      fitted({kBatch, kSequence}, [](P p) { return Maybe(p[0] * p[0] * p[1] * p[1] + p[1]); }),
      "a²·b² + b");
  EXPECT_EQ(fitted({kSequence}, [](P p) { return Maybe(p[0] * p[0] * p[0] * p[0] * p[0]); }),
            "none");
}

TEST(Fit, SizesThatMustBeDivisible) {
  const auto by_eight = [](P p) { return p[0] % 8 == 0; };
  EXPECT_EQ(fitted(
                {{8, INT64_MAX, 224}}, [](P p) { return Maybe(p[0] / 8 * (p[0] / 8)); }, by_eight),
            "1/64·a²");
  // and of each other
  EXPECT_EQ(fitted(
                {kBatch, kSequence}, [](P p) { return Maybe((p[0] + p[1]) / 4); },
                [](P p) { return (p[0] + p[1]) % 4 == 0; }),
            "1/4·a + 1/4·b");
}

TEST(Fit, SizesBelowAnUndeclaredLimitAreAvoided) {
  EXPECT_EQ(fitted(
                {{0, INT64_MAX, 224}}, [](P p) { return Maybe(p[0] - 30); },
                [](P p) { return p[0] > 30; }),
            "a - 30");
}

TEST(Fit, NarrowRangesHaveLowPowers) {
  EXPECT_EQ(fitted({{1, 4, 2}}, [](P p) { return Maybe(6 * p[0]); }), "6·a");
  EXPECT_EQ(fitted({{1, 4, 2}}, [](P p) { return Maybe(p[0] * p[0]); }), "none");
  EXPECT_EQ(fitted({{3, 3, 3}}, [](P p) { return Maybe(p[0]); }), "none");
}

TEST(Fit, BigCoefficientsDoNotOverflow) {
  constexpr int64_t kBig = int64_t{1} << 55;
  EXPECT_EQ(fitted({kBatch}, [](P p) { return Maybe(kBig * p[0]); }), "36,028,797,018,963,968·a");
  constexpr int64_t kBigger = (int64_t{1} << 62) - 64;
  EXPECT_EQ(fitted({kBatch}, [](P p) { return Maybe(kBigger - p[0]); }),
            "-a + 4,611,686,018,427,387,840");
}

TEST(Fit, SeriesWithMissingValuesHaveNoFormula) {
  EXPECT_EQ(fitted({kAny}, [](P) { return Maybe(); }), "none");
  EXPECT_EQ(fitted({kAny}, [](P p) { return p[0] > 5 ? Maybe(1) : Maybe(); }), "none");
}

TEST(Fit, ImpossibleOrTooManySizesHaveNoFormula) {
  EXPECT_EQ(fitted(
                {kAny}, [](P) { return Maybe(1); }, [](P) { return false; }),
            "none");
  EXPECT_EQ(fitted({kAny, kAny, kAny, kAny}, [](P) { return Maybe(1); }), "none");
}

}  // namespace
}  // namespace tmeter::core
