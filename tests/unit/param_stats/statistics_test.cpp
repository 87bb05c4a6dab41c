// Every value of every recorded tensor against NumPy, for every division into parts.
#include <gtest/gtest.h>

#include <set>

#include "recorded.hpp"

namespace {

using param_stats::Statistics;

const char* const kQuantileNames[] = {"q01", "q05", "q25", "median", "q75", "q95", "q99"};

const std::set<std::string> kWithoutSquares{"denormal.f64", "extreme.f64", "matrix.huge",
                                            "matrix.tiny"};

void expect_moments(const Statistics& f, const nlohmann::json& e) {
  const double rms = f.moments.root_mean_square();
  // A mean of 0 is a sum of rounding errors, so its tolerance is relative to the size of the
  // elements.
  EXPECT_TRUE(recorded::close(f.moments.average(), e["mean"], 1e-9 * rms)) << "mean";
  EXPECT_TRUE(recorded::close(f.moments.deviation(), e["std"])) << "std";
  EXPECT_TRUE(recorded::close(std::sqrt(f.moments.sum_of_squares()), e["l2_norm"])) << "l2";
  EXPECT_EQ(static_cast<double>(f.near_zeros) / static_cast<double>(f.elements()),
            e["near_zero"].get<double>());
  ASSERT_EQ(f.moments.has_shape() && !f.constant(), e.contains("skewness"));
  if (!e.contains("skewness")) return;
  EXPECT_TRUE(recorded::close(f.moments.skewness(), e["skewness"], 1e-6)) << "skewness";
  EXPECT_TRUE(recorded::close(f.moments.kurtosis(), e["kurtosis"], 1e-6)) << "kurtosis";
}

void expect_order(const Statistics& f, const nlohmann::json& e) {
  EXPECT_EQ(f.min, e["min"].get<double>());
  EXPECT_EQ(f.max, e["max"].get<double>());
  for (size_t q = 0; q < param_stats::kQuantiles.size(); ++q)
    EXPECT_TRUE(recorded::close(f.quantiles[q], e[kQuantileNames[q]])) << kQuantileNames[q];
}

void expect_bins(const Statistics& f, const nlohmann::json& e) {
  ASSERT_EQ(f.binned, e.contains("counts"));
  if (!f.binned) return;
  EXPECT_TRUE(recorded::close(f.entropy, e["entropy"])) << "entropy";
  EXPECT_EQ(f.counts, e["counts"].get<std::vector<uint64_t>>());
  EXPECT_EQ(f.edges, e["edges"].get<std::vector<double>>());
}

void expect_values(const std::string& name, const Statistics& f, const nlohmann::json& e) {
  EXPECT_EQ(f.moments.n, e["finite"].get<uint64_t>());
  EXPECT_EQ(f.nan, e["nan"].get<uint64_t>());
  EXPECT_EQ(f.inf, e["inf"].get<uint64_t>());
  if (f.elements() == 0) return;
  const auto all = static_cast<double>(f.elements());
  EXPECT_TRUE(recorded::close(f.coded_bits, e["coded_bits"])) << "coded";
  EXPECT_EQ(static_cast<double>(f.zeros) / all, e["sparsity"].get<double>());
  if (f.moments.n == 0) return;
  EXPECT_TRUE(recorded::close(f.l1, e["l1_norm"])) << "l1";
  // float64 whose squares overflow or underflow: std and L2 are unavailable, not 0 or infinite.
  EXPECT_EQ(f.moments.has_squares(), !kWithoutSquares.contains(name));
  if (f.moments.has_squares()) expect_moments(f, e);
  expect_order(f, e);
  expect_bins(f, e);
}

TEST(Statistics, AgreeWithNumPyForEveryRecordedTensorInAnyPieces) {
  struct Cut {
    int64_t parts, chunk;
  };
  for (const auto& t : recorded::tensors()) {
    if (t.bytes.empty()) continue;  // never streamed
    for (const Cut cut : {Cut{1, int64_t{1} << 40}, Cut{1, 100}, Cut{3, 333}, Cut{7, 1}}) {
      SCOPED_TRACE(t.name + " in " + std::to_string(cut.parts) + " parts, chunks of " +
                   std::to_string(cut.chunk));
      expect_values(t.name, recorded::analyse(t.dtype, t.bytes, cut.parts, cut.chunk), t.expected);
    }
  }
}

TEST(Statistics, ATypeWiderThanItsValuesIsNoticed) {
  for (const auto& t : recorded::tensors()) {
    if (t.bytes.empty()) continue;
    const auto f = recorded::analyse(t.dtype, t.bytes, 2, 1000);
    SCOPED_TRACE(t.name);
    if (t.name == "halves.f32") {
      EXPECT_TRUE(f.fits_half && !f.fits_bfloat16);
    } else if (t.name == "bfloat16s.f32") {
      EXPECT_TRUE(f.fits_bfloat16);
    } else if (t.name == "singles.f64") {
      EXPECT_TRUE(f.fits_single);
    } else if (t.name.starts_with("normal.") || t.name.starts_with("denormal.")) {
      EXPECT_FALSE(f.fits_half || f.fits_bfloat16 || f.fits_single);
    }
  }
}

}  // namespace
