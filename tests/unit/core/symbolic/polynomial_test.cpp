// Interpolation on lattices, by hand: 3·s² at 2, 3, 4 is 12, 27, 48.
#include "core/symbolic/polynomial.hpp"

#include <gtest/gtest.h>

namespace tmeter::core {
namespace {

using Names = std::vector<std::string_view>;

std::optional<Polynomial> through(const Lattice& lattice, int degree,
                                  const std::vector<int64_t>& values) {
  return Interpolation(lattice, degree).of(values);
}

TEST(Polynomial, OfOneSize) {
  const auto p = through(Lattice({{2, 1, 5}}, 4), 2, {12, 27, 48});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->text(Names{"s"}), "3·s²");
  EXPECT_EQ(p->at(std::vector<int64_t>{1000}), 3'000'000);
}

TEST(Polynomial, OfTwoSizesThatMoveInSteps) {
  // 5·a·b² − 2·b + 7 at a = 1, 3, 5, …, b = 8, 16, …
  const Lattice lattice({{1, 2, 5}, {8, 8, 5}}, 4);
  std::vector<int64_t> values;
  for (size_t i = 0; i < lattice.count(3); ++i) {
    const auto p = lattice.place(lattice.points()[i]);
    values.push_back(5 * p[0] * p[1] * p[1] - 2 * p[1] + 7);
  }
  const auto p = through(lattice, 3, values);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->text(Names{"a", "b"}), "5·a·b² - 2·b + 7");
  ASSERT_EQ(p->terms.size(), 3U);
  EXPECT_EQ(p->terms[0].powers, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(p->terms[1].numerator, -2);
}

TEST(Polynomial, FractionsStayExact) {
  // n (n + 1) / 2 at 2, 3, 4
  const auto p = through(Lattice({{2, 1, 5}}, 4), 2, {3, 6, 10});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->text(Names{"n"}), "1/2·n² + 1/2·n");
  EXPECT_EQ(p->at(std::vector<int64_t>{100}), 5050);
}

TEST(Polynomial, HasNoValueWhereItIsNotAnInteger) {
  const auto p = through(Lattice({{2, 2, 5}}, 4), 1, {1, 2});  // n / 2 at 2, 4
  ASSERT_TRUE(p);
  EXPECT_EQ(p->at(std::vector<int64_t>{6}), 3);
  EXPECT_EQ(p->at(std::vector<int64_t>{7}), std::nullopt);
}

TEST(Polynomial, ThreeSizesOfDegreeFour) {
  const Lattice lattice({{2, 1, 5}, {2, 1, 5}, {3, 4, 5}}, 4);
  std::vector<int64_t> values;
  EXPECT_EQ(lattice.points().size(), 35U);  // C(3 + 4, 4)
  for (const auto& steps : lattice.points()) {
    const auto p = lattice.place(steps);
    values.push_back(p[0] * p[1] * p[2] * p[2] + 11 * p[0] * p[0] * p[0] * p[0] - p[1]);
  }
  const auto p = through(lattice, 4, values);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->text(Names{"a", "b", "c"}), "11·a⁴ + a·b·c² - b");
}

TEST(Polynomial, ANarrowSizeHasLowPowersOnly) {
  const Lattice lattice({{1, 1, 2}, {2, 1, 5}}, 4);
  for (const auto& steps : lattice.points()) EXPECT_LE(steps[0], 1);
  EXPECT_EQ(lattice.count(4), 9U);  // of 15 those without a², a³, a⁴: 5 + 4
}

TEST(Polynomial, CoefficientsNear2To62AreExact) {
  constexpr int64_t kBig = (int64_t{1} << 62) - 1;
  const auto constant = through(Lattice({{2, 1, 5}}, 4), 0, {kBig});
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant->text(Names{"s"}), "4,611,686,018,427,387,903");
  // kBig·s − kBig at 1, 2, 3 as a polynomial of degree 2: the highest power vanishes
  const auto line = through(Lattice({{1, 1, 5}}, 4), 2, {0, kBig, 2 * kBig});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text(Names{"s"}), "4,611,686,018,427,387,903·s - 4,611,686,018,427,387,903");
  EXPECT_EQ(line->at(std::vector<int64_t>{3}), 2 * kBig);
  EXPECT_EQ(line->at(std::vector<int64_t>{4}), std::nullopt);  // 3·kBig exceeds 63 bits
}

TEST(Polynomial, CoefficientsBeyond64BitsAreRefused) {
  constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;
  // kMax, kMin, kMax, kMin, kMax: the fourth difference is 16·2^63, fourth power 2^67 / 24
  EXPECT_FALSE(through(Lattice({{1, 1, 5}}, 4), 4, {kMax, kMin, kMax, kMin, kMax}));
  // far from the base the weights alone do not fit
  EXPECT_FALSE(through(Lattice({{int64_t{1} << 40, 1, 5}}, 4), 4, {1, 0, 0, 0, 0}));
}

TEST(Polynomial, WithoutTermsIsZero) {
  const auto p = through(Lattice({{2, 1, 5}}, 4), 1, {0, 0});
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->terms.empty());
  EXPECT_EQ(p->text(Names{"s"}), "0");
}

}  // namespace
}  // namespace tmeter::core
