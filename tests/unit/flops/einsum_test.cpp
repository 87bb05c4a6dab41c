// Einsum: products, and additions besides them, by hand from aten/src/ATen/native/Linear.cpp; and
// fvcore's count: half of that of numpy 2.4's einsum_path(optimize="optimal"), recorded.
#include <gtest/gtest.h>

#include "fake_host.hpp"

namespace {

using fake::Dims;
using fake::op;
using Counts = std::pair<std::optional<int64_t>, std::optional<int64_t>>;

fake::Op einsum(const char* equation, const std::vector<Dims>& shapes) {
  return op("aten::einsum").text("equation", equation).tensors("tensors", shapes).out({1});
}
Counts counts(const char* equation, const std::vector<Dims>& shapes) {
  const auto n = einsum(equation, shapes);
  return {n.count("macs"), n.count("other_flops")};
}

TEST(Einsum, OfOneOperandSumsOrRearranges) {
  EXPECT_EQ(counts("ij->i", {{3, 4}}), Counts(0, 12));
  EXPECT_EQ(counts("ij->ji", {{3, 4}}), Counts(0, 0));
  EXPECT_EQ(counts("ii->i", {{3, 3}}), Counts(0, 0));
  EXPECT_EQ(counts("ii->", {{3, 3}}), Counts(0, 3));
}

TEST(Einsum, WithoutASharedSumIsElementwise) {
  EXPECT_EQ(counts("i,i->i", {{3}, {3}}), Counts(0, 3));
  EXPECT_EQ(counts("i,j->ij", {{3}, {4}}), Counts(0, 12));
  EXPECT_EQ(counts("ii,i->i", {{3, 3}, {3}}), Counts(0, 3));  // the diagonal
  EXPECT_EQ(counts("ij,jk->ik", {{2, 1}, {1, 4}}), Counts(0, 8));
}

TEST(Einsum, LettersOfOneOperandAreSummedFirst) {
  EXPECT_EQ(counts("ij,k->k", {{2, 3}, {5}}), Counts(0, 6 + 5));
  EXPECT_EQ(counts("k,ij->k", {{5}, {2, 3}}), Counts(0, 6 + 5));
  EXPECT_EQ(counts("ij,kl->", {{2, 3}, {4, 5}}), Counts(0, 6 + 20 + 1));
  EXPECT_EQ(counts("ij,jk->i", {{2, 3}, {3, 4}}), Counts(2 * 3, 12));
}

TEST(Einsum, OutputFollowsFromLettersThatOccurOnce) {
  EXPECT_EQ(counts("ij,jk", {{2, 3}, {3, 4}}), Counts(24, 0));
  EXPECT_EQ(counts("ij", {{2, 3}}), Counts(0, 0));
  EXPECT_EQ(counts("ii", {{3, 3}}), Counts(0, 3));
  EXPECT_EQ(counts("...i,...i", {{2, 3}, {2, 3}}), Counts(6, 0));
}

TEST(Einsum, AllLettersAreLabels) {
  EXPECT_EQ(counts("aZ,Zz->az", {{2, 3}, {3, 4}}), Counts(24, 0));
  EXPECT_EQ(counts(" A j , j z -> A z ", {{2, 3}, {3, 4}}), Counts(24, 0));
  EXPECT_EQ(counts("aA,AZ,Zz->az", {{2, 3}, {3, 4}, {4, 5}}), Counts(24 + 40, 0));
}

TEST(Einsum, DotsAreAlignedAtTheRight) {
  EXPECT_EQ(counts("...i,...i->...", {{2, 3, 4}, {3, 4}}), Counts(24, 0));
  EXPECT_EQ(counts("i...,i...->...", {{4, 2, 3}, {4, 3}}), Counts(24, 0));
  EXPECT_EQ(counts("i...,i->", {{4, 2, 3}, {4}}), Counts(4, 24));
  EXPECT_EQ(counts("...i->...", {Dims(13, 1)}).first, 0);
  EXPECT_EQ(counts("...i->...", {Dims(14, 1)}).first, std::nullopt);  // more dims than labels
}

TEST(Einsum, ThirtyTwoOperandsAndNoMore) {
  const auto many = [](size_t count) {
    std::string equation = "i";
    for (size_t i = 1; i < count; ++i) equation += ",i";
    return einsum((equation + "->i").c_str(), std::vector<Dims>(count, {2})).count("other_flops");
  };
  EXPECT_EQ(many(32), 31 * 2);
  EXPECT_EQ(many(33), std::nullopt);
}

/// 0 and 2 first, then their product as the last operand: ik,(ij·jl) instead of (ij·ik)·jl.
TEST(Einsum, AlongAPathResultsGoToTheEnd) {
  const auto along = [](const Dims& path) {
    const auto n = einsum("ij,ik,jl->kl", {{2, 3}, {2, 4}, {3, 5}}).numbers("path", path);
    return n.count("macs");
  };
  EXPECT_EQ(einsum("ij,ik,jl->kl", {{2, 3}, {2, 4}, {3, 5}}).count("macs"), 2 * 3 * 4 + 3 * 4 * 5);
  EXPECT_EQ(along({0, 2, 0, 1}), 2 * 3 * 5 + 2 * 4 * 5);
  EXPECT_EQ(along({2, 0, 1, 0}), 2 * 3 * 5 + 2 * 4 * 5);  // in either order
  EXPECT_EQ(along({0, 3, 0, 1}), std::nullopt);
}

TEST(Einsum, ImpossibleEquationsAreUnknown) {
  EXPECT_EQ(counts("ij,jk->ik", {{2, 3}, {3}}).first, std::nullopt);
  EXPECT_EQ(counts("i.j->i", {{2, 3}}).first, std::nullopt);
  EXPECT_EQ(counts("i..j->i", {{2, 3}}).first, std::nullopt);
  EXPECT_EQ(counts("i1->i", {{2, 3}}).first, std::nullopt);
}

TEST(Einsum, AsNumpyCountsItForFvcore) {
  const auto fvcore = [](const char* equation, const std::vector<Dims>& shapes) {
    return einsum(equation, shapes).count("flops", "fvcore");
  };
  EXPECT_EQ(fvcore("ij,jk,kl->il", {{20, 3}, {3, 40}, {40, 4}}), 720);       // 1,441
  EXPECT_EQ(fvcore("ij,ij->ij", {{3, 4}, {3, 4}}), 6);                       // 13
  EXPECT_EQ(fvcore("ab,ab->", {{3, 4}, {3, 4}}), 12);                        // 25
  EXPECT_EQ(fvcore("ij,jk->ik", {{123, 457}, {457, 89}}), 5005000);          // 1.001e7, four digits
  EXPECT_EQ(fvcore("i,j,k->ijk", {{3}, {4}, {5}}), 60);                      // 121
  EXPECT_EQ(fvcore("ab,bc,cd,da->", {{2, 3}, {3, 4}, {4, 5}, {5, 2}}), 70);  // 141
  EXPECT_EQ(fvcore("ia,ib,ic->abc", {{9, 2}, {9, 3}, {9, 4}}), 324);         // 649
  EXPECT_EQ(fvcore("ab,ac,ad->bcd", {{2, 3}, {2, 4}, {2, 5}}), 132);         // 265
  EXPECT_EQ(fvcore("a,b,ab->", {{30}, {40}, {30, 40}}), 1230);               // 2,461
  EXPECT_EQ(fvcore("ij,j->i", {{1, 4}, {4}}), 4);                            // 9
  EXPECT_EQ(fvcore("abc,acd,ae,bf->def", {{2, 3, 4}, {2, 4, 5}, {2, 6}, {3, 7}}), 750);
  EXPECT_EQ(fvcore("ab,cd,ef->", {{2, 3}, {4, 5}, {6, 7}}), 162);         // 325
  EXPECT_EQ(fvcore("ab,bc,ca,d->d", {{2, 3}, {3, 4}, {4, 2}, {5}}), 33);  // 66.x
}

TEST(Einsum, BatchedProductsAreExactForFvcoreUnderAnyLetters) {
  const auto fvcore = [](const char* equation) {
    return einsum(equation, {{2, 300, 41}, {2, 300, 53}}).count("flops", "fvcore");
  };
  EXPECT_EQ(fvcore("abc,abd->acd"), 2 * 300 * 41 * 53);
  EXPECT_EQ(fvcore("zYx, zYw -> zxw"), 2 * 300 * 41 * 53);
  EXPECT_EQ(einsum("abc,adc->adb", {{2, 41, 300}, {2, 53, 300}}).count("flops", "fvcore"),
            2 * 300 * 41 * 53);
  EXPECT_EQ(fvcore("abc,abd->adc"), 1304000);  // 2,608,000: numpy's count, rounded
}

TEST(Einsum, MoreTermsThanNumpySearchesAreUnknownToFvcore) {
  const auto many = [](size_t count) {
    std::string equation = "i";
    for (size_t i = 1; i < count; ++i) equation += ",i";
    return einsum((equation + "->").c_str(), std::vector<Dims>(count, {2}))
        .count("flops", "fvcore");
  };
  EXPECT_TRUE(many(7).has_value());
  EXPECT_EQ(many(8), std::nullopt);
}

}  // namespace
