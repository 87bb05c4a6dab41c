// Values as reports print them: expected texts written by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <tmeter/cpp/units.hpp>
#include <vector>

namespace {

struct Case {
  double value;
  std::string text;
};

void expect_texts(int32_t kind, std::string_view unit, const std::vector<Case>& cases) {
  for (const auto& c : cases) EXPECT_EQ(tmeter::scaled(c.value, kind, unit).text(), c.text);
}

TEST(Units, CountsStepByThousands) {
  const std::vector<Case> cases{
      {0, "0"},
      {1, "1"},
      {128, "128"},
      {999, "999"},
      {1000, "1.00 K"},
      {9408, "9.41 K"},
      {25557032, "25.56 M"},
      {4089184256, "4.09 G"},
      {8178368512, "8.18 G"},
      {1.5e12, "1.50 T"},
      {2e15, "2.00 P"},
      {9223372036854775807.0, "9.22 E"},
  };
  expect_texts(TMETER_UNIT_COUNT, "", cases);
  expect_texts(TMETER_UNIT_OP, "FLOP", cases);
}

TEST(Units, ARoundedCountNeverReadsAsAThousandOfTheSmallerUnit) {
  expect_texts(TMETER_UNIT_COUNT, "",
               {{999994, "999.99 K"}, {999996, "1.00 M"}, {999999, "1.00 M"}, {999.999, "1.00 K"}});
}

TEST(Units, FractionsOfCountsKeepTwoDecimals) {
  expect_texts(TMETER_UNIT_COUNT, "", {{3.14159, "3.14"}, {0.5, "0.50"}, {0.001, "0.001"}});
}

TEST(Units, NegativeNumbersScaleLikePositiveOnes) {
  expect_texts(TMETER_UNIT_COUNT, "", {{-1, "-1"}, {-1500, "-1.50 K"}, {-999999, "-1.00 M"}});
  expect_texts(TMETER_UNIT_BYTE, "B", {{-2048, "-2.00 KiB"}});
  expect_texts(TMETER_UNIT_JOULE, "J", {{-0.0188, "-18.80 mJ"}});
  expect_texts(TMETER_UNIT_SECOND, "s", {{-90, "-1.50 min"}});
  expect_texts(TMETER_UNIT_COUNT, "", {{-0.0, "0"}});
}

TEST(Units, BytesStepBy1024) {
  expect_texts(TMETER_UNIT_BYTE, "B",
               {{0, "0 B"},
                {1, "1 B"},
                {1023, "1023 B"},
                {1024, "1.00 KiB"},
                {1536, "1.50 KiB"},
                {1048570, "1023.99 KiB"},
                {1048575, "1.00 MiB"},
                {102228128, "97.49 MiB"},
                {1073741824, "1.00 GiB"},
                {1099511627776, "1.00 TiB"}});
}

TEST(Units, SecondsGoFromNanosecondsToHours) {
  expect_texts(TMETER_UNIT_SECOND, "s",
               {{0, "0 s"},
                {2.5e-10, "0.25 ns"},
                {1e-12, "0.001 ns"},
                {4.2e-9, "4.20 ns"},
                {1.5e-6, "1.50 us"},
                {0.0012, "1.20 ms"},
                {0.9999, "999.90 ms"},
                {0.999996, "1.00 s"},
                {59.99, "59.99 s"},
                {59.996, "1.00 min"},
                {90, "1.50 min"},
                {3599.9, "1.00 h"},
                {5400, "1.50 h"},
                {360000, "100.00 h"}});
}

TEST(Units, EnergyAndPowerTakeSiPrefixes) {
  expect_texts(TMETER_UNIT_JOULE, "J",
               {{0, "0 J"},
                {0.0188, "18.80 mJ"},
                {3.7e-12, "3.70 pJ"},
                {1e-15, "0.001 pJ"},
                {1, "1.00 J"},
                {1500, "1.50 kJ"},
                {3.6e6, "3.60 MJ"}});
  expect_texts(TMETER_UNIT_WATT, "W", {{65, "65.00 W"}, {0.25, "250.00 mW"}, {1200, "1.20 kW"}});
}

TEST(Units, RatiosReadAsPercent) {
  expect_texts(TMETER_UNIT_RATIO, "",
               {{0, "0.00 %"}, {0.1634, "16.34 %"}, {1, "100.00 %"}, {0.00001, "0.001 %"}});
}

TEST(Units, ThroughputTakesAPrefix) {
  expect_texts(TMETER_UNIT_OTHER, "IPS",
               {{0, "0 IPS"},
                {12, "12 IPS"},
                {12.5, "12.50 IPS"},
                {1200, "1.20 KIPS"},
                {3.4e6, "3.40 MIPS"},
                {5e9, "5.00 GIPS"},
                {6e12, "6.00 TIPS"}});
  expect_texts(TMETER_UNIT_OTHER, "B/s", {{5.2e9, "5.20 GB/s"}});
  expect_texts(TMETER_UNIT_OTHER, "FLOP/s", {{1.5e12, "1.50 TFLOP/s"}});
}

TEST(Units, UnitsOfTheSiTakePrefixes) {
  expect_texts(TMETER_UNIT_OTHER, "Hz",
               {{2.6e9, "2.60 GHz"}, {50, "50.00 Hz"}, {1800, "1.80 kHz"}, {0, "0 Hz"}});
  expect_texts(TMETER_UNIT_OTHER, "g", {{4.2e-6, "4.20 ug"}, {1500, "1.50 kg"}});
  expect_texts(TMETER_UNIT_OTHER, "FLOP/J", {{1.87e10, "18.70 GFLOP/J"}, {-2e12, "-2.00 TFLOP/J"}});
  expect_texts(TMETER_UNIT_OTHER, "FLOP/B", {{31.11, "31.11 FLOP/B"}, {4096, "4.10 KFLOP/B"}});
  expect_texts(TMETER_UNIT_OTHER, "J/token", {{0.0042, "4.20 mJ/token"}});
}

TEST(Units, UnitsWithoutPrefixesStayAsTheyAre) {
  expect_texts(TMETER_UNIT_OTHER, "°C", {{71.5, "71.50 °C"}});
  expect_texts(TMETER_UNIT_OTHER, "dB", {{48.14, "48.14 dB"}});
  expect_texts(TMETER_UNIT_OTHER, "FLOPs", {{12000, "12000 FLOPs"}});
}

TEST(Units, AnyOtherUnitIsShownAsGiven) {
  expect_texts(TMETER_UNIT_OTHER, "bit", {{8, "8 bit"}, {2.5, "2.50 bit"}});
  expect_texts(TMETER_UNIT_OTHER, "", {{40, "40"}});
  // Without prefixes, three digits are better than two decimals: means and deviations of weights.
  expect_texts(
      TMETER_UNIT_OTHER, "",
      {{0.0123, "0.0123"}, {-1.5e-7, "-1.5e-07"}, {123.456, "123.46"}, {2.5e8, "2.5e+08"}});
  expect_texts(99, "xyz", {{1, "1 xyz"}});
}

TEST(Units, NonFiniteNumbersAreWords) {
  const double inf = std::numeric_limits<double>::infinity();
  for (int32_t kind = TMETER_UNIT_COUNT; kind <= TMETER_UNIT_OTHER; ++kind)
    expect_texts(kind, "u", {{inf, "inf"}, {-inf, "-inf"}, {std::nan(""), "nan"}});
}

TEST(Units, TheLargestNumbersDoNotOverrunTheBuffer) {
  EXPECT_EQ(tmeter::scaled(1e308, TMETER_UNIT_OTHER, "").text(), "1e+308");
}

TEST(Units, GroupedNumbersAreExact) {
  EXPECT_EQ(tmeter::grouped(0), "0");
  EXPECT_EQ(tmeter::grouped(999), "999");
  EXPECT_EQ(tmeter::grouped(1000), "1,000");
  EXPECT_EQ(tmeter::grouped(25557032), "25,557,032");
  EXPECT_EQ(tmeter::grouped(-999), "-999");
  EXPECT_EQ(tmeter::grouped(-1234567), "-1,234,567");
  EXPECT_EQ(tmeter::grouped(std::numeric_limits<int64_t>::max()), "9,223,372,036,854,775,807");
  EXPECT_EQ(tmeter::grouped(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Units, ACellShowsItsKindAndNeverZeroInstead) {
  using tmeter::Cell;
  EXPECT_EQ(tmeter::plain(Cell()), "none");
  EXPECT_EQ(tmeter::plain(Cell::unsupported()), "unknown");
  EXPECT_EQ(tmeter::plain(Cell::unavailable()), "unavailable");
  EXPECT_EQ(tmeter::plain(Cell(tmeter_number{TMETER_NUMBER_IN_MODULE, 0, 0, 0})), "in_module");
  EXPECT_EQ(tmeter::plain(Cell(tmeter_number{99, 0, 0, 0})), "unknown");
  EXPECT_EQ(tmeter::plain(Cell::zero_by_rule()), "0");
  EXPECT_EQ(tmeter::plain(Cell(tmeter::Count(4089184256))), "4089184256");
  EXPECT_EQ(tmeter::plain(Cell(tmeter::Count(812)).as_partial()), "812 (partial)");
  EXPECT_EQ(tmeter::plain(Cell(0.5)), "0.5");
  EXPECT_EQ(tmeter::plain(Cell(1.5e-9)), "1.5e-09");  // not 0.000000
  EXPECT_EQ(tmeter::plain(Cell(std::nan(""))), "nan");
}

}  // namespace
