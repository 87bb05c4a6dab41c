// A maximum of polynomials is found piece by piece; other functions have no pieces.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/symbolic/fit.hpp"

namespace tmeter::core {
namespace {

using Known = std::optional<int64_t>;
using Texts = std::vector<std::string>;

Texts pieces_of(
    const std::vector<SizeRange>& sizes, const std::function<Known(Fittable::Point)>& f,
    const std::function<bool(Fittable::Point)>& possible = [](Fittable::Point) { return true; }) {
  const Fittable function{1, possible, [&](Fittable::Point p) {
                            EXPECT_TRUE(possible(p));
                            for (size_t i = 0; i < p.size(); ++i) {
                              EXPECT_GE(p[i], sizes[i].min);
                              EXPECT_LE(p[i], sizes[i].max);
                            }
                            return std::optional(Fittable::Values{f(p)});
                          }};
  const std::vector<std::string_view> names{"a", "b", "c"};
  Texts out;
  for (const auto& piece : fit_pieces(sizes, function).list) out.push_back(piece.text(names));
  std::ranges::sort(out);
  return out;
}

const SizeRange kMany{1, 1024, 2}, kTokens{2, 8192, 128}, kEndless{2, INT64_MAX, 8};

TEST(Pieces, OnePolynomialIsOnePiece) {
  EXPECT_EQ(pieces_of({kMany, kTokens},
                      [](Fittable::Point p) { return Known(3 * p[0] * p[1] * p[1] + 5); }),
            Texts{"3·a·b² + 5"});
  EXPECT_EQ(pieces_of({kEndless}, [](Fittable::Point) { return Known(7); }), Texts{"7"});
}

TEST(Pieces, APeakThatMoves) {
  EXPECT_EQ(pieces_of({kMany, kTokens},
                      [](Fittable::Point p) {
                        const auto tokens = p[0] * p[1];
                        return Known(std::max(8 * tokens + 1'000'000, 500 * tokens + 1000));
                      }),
            (Texts{"500·a·b + 1,000", "8·a·b + 1,000,000"}));
  EXPECT_EQ(
      pieces_of({kEndless}, [](Fittable::Point p) { return Known(std::max<int64_t>(p[0], 100)); }),
      (Texts{"100", "a"}));
}

TEST(Pieces, PiecesAreLowerBoundsWhereAThirdOneLeadsInBetween) {
  // From 8 to 108 the second line leads, which no end of the range sees.
  EXPECT_EQ(pieces_of({{2, 100'000, 2}},
                      [](Fittable::Point p) {
                        return Known(std::max({int64_t{1000}, 10 * p[0] + 920, 11 * p[0] + 812}));
                      }),
            (Texts{"1,000", "11·a + 812"}));
}

TEST(Pieces, DivisibleSizes) {
  EXPECT_EQ(pieces_of(
                {{8, 4096, 64}},
                [](Fittable::Point p) { return Known(std::max<int64_t>(p[0] / 8, 100)); },
                [](Fittable::Point p) { return p[0] % 8 == 0; }),
            (Texts{"1/8·a", "100"}));
}

TEST(Pieces, MinimumAndFloorDivisionHaveNoPieces) {
  EXPECT_EQ(pieces_of({kEndless},
                      [](Fittable::Point p) { return Known(std::min<int64_t>(p[0], 500'000)); }),
            Texts());
  EXPECT_EQ(pieces_of({kEndless}, [](Fittable::Point p) { return Known(p[0] / 2); }), Texts());
}

TEST(Pieces, OverflowAtTheLargestSizesIsIgnored) {
  EXPECT_EQ(pieces_of({kEndless, kEndless},
                      [](Fittable::Point p) {
                        int64_t product = 0;
                        const bool over = __builtin_mul_overflow(p[0] * p[1], p[1] << 20, &product);
                        return over ? Known() : Known(product);
                      }),
            Texts{"1,048,576·a·b²"});
}

}  // namespace
}  // namespace tmeter::core
