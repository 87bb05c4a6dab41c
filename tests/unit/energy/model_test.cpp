// The energy formulas against hand calculations, and the rules by which an element type without a
// value takes that of another.
#include "plugins/common/energy/model.hpp"

#include <gtest/gtest.h>

#include "plugins/common/energy/heat.hpp"

namespace {

using machine::Family;
using machine::Work;
using tmeter::DType;
using tmeter::OpClass;

const DType kFloat32(TMETER_DTYPE_FLOAT32), kFloat16(TMETER_DTYPE_FLOAT16),
    kBfloat16(TMETER_DTYPE_BFLOAT16), kFloat64(TMETER_DTYPE_FLOAT64), kInt8(TMETER_DTYPE_INT8),
    kInt64(TMETER_DTYPE_INT64), kBool(TMETER_DTYPE_BOOL), kQuint8(TMETER_DTYPE_QUINT8),
    kComplex64(TMETER_DTYPE_COMPLEX64);

machine::Lookup profile_of(std::map<std::string, double> values) {
  return [values = std::move(values)](const std::string& key) -> std::optional<double> {
    const auto at = values.find(key);
    return at == values.end() ? std::nullopt : std::optional<double>(at->second);
  };
}

std::optional<machine::ProfileValue> find(const machine::Lookup& lookup, OpClass kind, DType type) {
  machine::Profile profile;
  return profile.value_for(lookup, Family::kEnergyMac, kind, type);
}

TEST(EnergyModel, FirstConvolutionOfResNet50OnHorowitz45nm) {
  // conv1: 64 * 112 * 112 outputs of 3 * 7 * 7 MACs = 118,013,952 MACs in float32, no bias:
  //   118,013,952 * (3.7 + 0.9) pJ = 542.8641792 uJ
  // input 3 * 224 * 224, weight 64 * 3 * 7 * 7, output 64 * 112 * 112 elements of 4 bytes:
  //   602,112 + 37,632 + 3,211,264 = 3,851,008 B, at 1300 pJ / 8 B: 625.7888 uJ
  const Work conv{118'013'952, 0, 3'851'008, OpClass::kConvolution, kFloat32};
  EXPECT_NEAR(*energy::compute_energy(conv, 4.6e-12, std::nullopt), 542.8641792e-6, 1e-15);
  EXPECT_NEAR(energy::memory_energy(conv, 162.5e-12), 625.7888e-6, 1e-15);
}

TEST(EnergyModel, AllConvolutionsAndTheClassifierOfResNet50OnHorowitz45nm) {
  // 4,089,184,256 MACs * 4.6 pJ = 18.8102475776 mJ
  const Work model{4'089'184'256, 0, 0, OpClass::kConvolution, kFloat32};
  EXPECT_NEAR(*energy::compute_energy(model, 4.6e-12, std::nullopt), 18.8102475776e-3, 1e-12);
}

TEST(EnergyModel, OtherOperationsAddTheirOwnEnergy) {
  // 10 MACs * 4 pJ + 5 operations * 2 pJ = 50 pJ
  EXPECT_DOUBLE_EQ(*energy::compute_energy({10, 5, 0, OpClass::kMatmul, kFloat32}, 4e-12, 2e-12),
                   50e-12);
}

TEST(EnergyModel, AMissingValueMakesTheTermMissingInsteadOfZero) {
  EXPECT_FALSE(energy::compute_energy({1, 0, 0, OpClass::kMatmul, kFloat32}, std::nullopt, 2e-12));
  EXPECT_FALSE(energy::compute_energy({0, 1, 0, OpClass::kMatmul, kFloat32}, 4e-12, std::nullopt));
}

TEST(ThermalEffects, LeakageIsALineAndTheClockFallsAboveTheThrottlePoint) {
  const auto lookup = profile_of({{"power.static", 54},
                                  {"thermal.leakage", 0.2},
                                  {"thermal.reference", 25},
                                  {"thermal.throttle", 85},
                                  {"thermal.slowdown", 0.02}});
  // 0.2 W/K · (65 − 25) K = 8 W; 85 °C is not yet above 85 °C
  const auto warm = energy::thermal_effects(lookup, {65, {}}, "p");
  EXPECT_DOUBLE_EQ(warm.leakage, 8);
  EXPECT_DOUBLE_EQ(warm.clock, 1);
  // 1 − 0.02/K · 10 K = 0.8
  const auto hot = energy::thermal_effects(lookup, {95, {}}, "p");
  EXPECT_DOUBLE_EQ(hot.leakage, 14);
  EXPECT_DOUBLE_EQ(hot.clock, 0.8);
  EXPECT_FALSE(hot.lower_bound);
  EXPECT_DOUBLE_EQ(energy::thermal_effects(lookup, {145, {}}, "p").clock, 0);
  // Never less than no power at all.
  EXPECT_DOUBLE_EQ(
      energy::thermal_effects(
          profile_of({{"power.static", 1}, {"thermal.leakage", 0.2}, {"thermal.reference", 25}}),
          {-25, {}}, "p")
          .leakage,
      -1);
}

TEST(ThermalEffects, MissingEntriesOfTheProfileAreReported) {
  const auto throttles = profile_of({{"thermal.throttle", 80}});
  EXPECT_TRUE(energy::thermal_effects(throttles, {90, {}}, "p").lower_bound);
  EXPECT_FALSE(energy::thermal_effects(throttles, {80, {}}, "p").lower_bound);
  EXPECT_NE(energy::thermal_effects(profile_of({}), {65, {}}, "p")
                .words.find("without thermal effects: p has neither"),
            std::string::npos);
  EXPECT_NE(energy::thermal_effects(throttles, {}, "p").words.find("no temperature is given"),
            std::string::npos);
}

TEST(EnergyModel, AnUnneededValueMayBeMissing) {
  EXPECT_DOUBLE_EQ(
      *energy::compute_energy({0, 0, 64, OpClass::kCopy, kFloat32}, std::nullopt, std::nullopt), 0);
}

TEST(EnergyModel, TimeIsThatOfTheSlowerRoof) {
  // A100, half-precision linear layer on one row: 4096 * 4096 MACs at 156e12/s = 107.5 ns, its
  // weights of 33,554,432 B at 1555e9 B/s = 21.578 us: memory-bound.
  const machine::Rates a100{156e12, 9.75e12, 1555e9, 1};
  const Work row{16'777'216, 0, 33'554'432, OpClass::kMatmul, kFloat16};
  EXPECT_NEAR(machine::roofline_time(row, a100), 33'554'432 / 1555e9, 1e-15);
  // The same layer on 4096 rows: 68,719,476,736 MACs at 156e12/s = 440.51 us; 3 * 33,554,432 B take
  // 64.7 us: compute-bound.
  const Work batch{68'719'476'736, 0, 100'663'296, OpClass::kMatmul, kFloat16};
  EXPECT_NEAR(machine::roofline_time(batch, a100), 440.5095e-6, 1e-10);
}

TEST(EnergyModel, EfficiencyStretchesArithmeticTimeAndNotMemoryTime) {
  // 100 MACs at 100/s at half efficiency = 2 s; 30 B at 10 B/s = 3 s.
  const machine::Rates rates{100.0, 100.0, 10.0, 0.5};
  EXPECT_DOUBLE_EQ(machine::roofline_time({100, 0, 0, OpClass::kMatmul, kFloat32}, rates), 2);
  EXPECT_DOUBLE_EQ(machine::roofline_time({100, 0, 30, OpClass::kMatmul, kFloat32}, rates), 3);
}

TEST(EnergyModel, TimesOfMacsAndOtherOperationsAddUp) {
  // 10 MACs at 10/s + 6 operations at 3/s = 3 s.
  const machine::Rates rates{10.0, 3.0, std::nullopt, 1};
  EXPECT_DOUBLE_EQ(machine::roofline_time({10, 6, 1e9, OpClass::kMatmul, kFloat32}, rates), 3);
}

TEST(EnergyModel, StaticEnergyIsPowerTimesTime) {
  EXPECT_DOUBLE_EQ(energy::static_energy(440e-6, 54), 23.76e-3);
}

TEST(EnergyValues, TheValueOfTheTypeItselfIsPreferred) {
  const auto lookup = profile_of({{"energy.mac.float32", 4.6}, {"energy.mac.float16", 1.5}});
  EXPECT_DOUBLE_EQ(find(lookup, OpClass::kMatmul, kFloat16)->value, 1.5);
}

TEST(EnergyValues, AValueOfTheOperatorClassPrecedesTheGeneralOne) {
  const auto lookup =
      profile_of({{"energy.mac.float32", 21.4}, {"energy.mac.convolution.float32", 2.48}});
  EXPECT_DOUBLE_EQ(find(lookup, OpClass::kConvolution, kFloat32)->value, 2.48);
  EXPECT_DOUBLE_EQ(find(lookup, OpClass::kMatmul, kFloat32)->value, 21.4);
}

TEST(EnergyValues, AGeneralValueOfTheTypePrecedesAClassValueOfAWiderType) {
  const auto lookup =
      profile_of({{"energy.mac.float16", 1.4}, {"energy.mac.convolution.float32", 2.48}});
  EXPECT_DOUBLE_EQ(find(lookup, OpClass::kConvolution, kFloat16)->value, 1.4);
}

TEST(EnergyValues, AMissingFloatTakesTheNearestAtLeastAsWide) {
  const auto lookup = profile_of(
      {{"energy.mac.float16", 1.5}, {"energy.mac.float32", 4.6}, {"energy.mac.float64", 9}});
  const auto found = find(lookup, OpClass::kMatmul, kBfloat16);
  EXPECT_DOUBLE_EQ(found->value, 1.5);
  EXPECT_EQ(found->type, kFloat16);
  EXPECT_FALSE(machine::same_arithmetic(kBfloat16, found->type));
}

TEST(EnergyValues, AWiderTypeNeverTakesTheValueOfANarrowerOne) {
  const auto lookup = profile_of({{"energy.mac.float32", 4.6}, {"energy.mac.int32", 3.2}});
  EXPECT_FALSE(find(lookup, OpClass::kMatmul, kFloat64));
  EXPECT_FALSE(find(lookup, OpClass::kElementwise, kInt64));
}

TEST(EnergyValues, QuantizedAndBooleanValuesAreComputedAsInt8) {
  const auto lookup = profile_of({{"energy.mac.int8", 0.23}, {"energy.mac.float32", 4.6}});
  for (const auto type : {kInt8, kQuint8, kBool}) {
    const auto found = find(lookup, OpClass::kMatmul, type);
    EXPECT_DOUBLE_EQ(found->value, 0.23);
    EXPECT_TRUE(machine::same_arithmetic(type, found->type));
  }
}

TEST(EnergyValues, IntegersWithoutValuesTakeAFloatAtLeastAsWide) {
  const auto lookup = profile_of({{"energy.mac.float16", 1.4}, {"energy.mac.float64", 26.7}});
  EXPECT_DOUBLE_EQ(find(lookup, OpClass::kMatmul, kInt8)->value, 1.4);
  EXPECT_DOUBLE_EQ(find(lookup, OpClass::kMatmul, kInt64)->value, 26.7);
}

TEST(EnergyValues, ComplexArithmeticHasNoSubstitute) {
  const auto lookup = profile_of({{"energy.mac.float32", 4.6}, {"energy.mac.float64", 9}});
  EXPECT_FALSE(find(lookup, OpClass::kMatmul, kComplex64));
}

TEST(EnergyValues, AFamilyExistsIfOneTypeHasAValue) {
  const auto lookup = profile_of({{"energy.mac.bfloat16", 1}, {"power.static", 54}});
  EXPECT_TRUE(machine::Profile::has(lookup, Family::kEnergyMac));
  EXPECT_FALSE(machine::Profile::has(lookup, Family::kPeakMac));
}

}  // namespace
