// Joules of a run and of its operators, calculated by hand.
#include "plugins/metrics/energy/meter.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using energy::Meter;

TEST(Meter, ARunTakesTheMeanOfAll) {
  Meter meter(1, 1e-3);
  meter.add_run(0.10, 2.0);
  meter.add_run(0.30, 4.0);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0.2);
  EXPECT_DOUBLE_EQ(meter.watts().value(), 15);  // 6 J in 0.4 s
  EXPECT_DOUBLE_EQ(meter.joules().value(), 3);
}

TEST(Meter, NoEnergyWithoutRunsOrWithConstantCounters) {
  EXPECT_FALSE(Meter(1, 1e-3).joules());
  Meter still(1, 1e-3);
  still.add_run(0.1, 0);
  EXPECT_FALSE(still.joules());
  EXPECT_TRUE(still.attributed(true).empty());
}

TEST(Meter, ResolutionFallsWithLengthAndNumberOfRuns) {
  Meter one(1, 1e-3);
  one.add_run(0.01, 1);
  EXPECT_NEAR(one.resolution(), 0.1 / std::sqrt(6.0), 1e-12);  // 1 ms of 10 ms
  Meter hundred(1, 1e-3);
  for (int i = 0; i < 100; ++i) hundred.add_run(0.01, 1);
  EXPECT_NEAR(hundred.resolution(), 0.01 / std::sqrt(6.0), 1e-12);
}

TEST(Meter, TheErrorOfManySimulatedRunsIsWithinTheResolution) {
  // A counter that steps each ms at 20 W, and runs of 3.7 ms with pauses of 1.3 ms: the energy of
  // 400 runs differs from 20 W · 3.7 ms by less than three times the reported resolution.
  Meter meter(1, 1e-3);
  double t = 0;
  const auto counter = [](double at) { return std::floor(at / 1e-3 + 1e-9) * 1e-3 * 20; };
  for (int i = 0; i < 400; ++i, t += 5.0123e-3)
    meter.add_run(3.7e-3, counter(t + 3.7e-3) - counter(t));
  EXPECT_NEAR(meter.joules().value() / (20 * 3.7e-3), 1, 3 * meter.resolution());
  EXPECT_LT(meter.resolution(), 0.006);
}

TEST(Meter, ShortRunsAreMeasuredByTheSpanOfAll) {
  // Runs of 10 µs and a GPU's counter of 100 ms: the sum over 100 runs is worthless, 5 s at 300 W
  // are not.
  Meter meter(1, 0.1);
  for (int i = 0; i < 100; ++i) meter.add_run(10e-6, i == 50 ? 30.0 : 0.0);
  meter.set_span(5, 1500);
  EXPECT_TRUE(meter.by_span());
  EXPECT_DOUBLE_EQ(meter.watts().value(), 300);
  EXPECT_NEAR(meter.joules().value(), 300 * 10e-6, 1e-12);
  EXPECT_DOUBLE_EQ(meter.uncertainty(), 0.02);
}

TEST(Meter, OperatorsShareByTime) {
  Meter meter(3, 1e-3);
  meter.add_run(0.6, 60);
  for (int round = 0; round < 4; ++round) {
    meter.add_operator(0, 0.1, 9);
    meter.add_operator(1, 0.2, 9);
    meter.add_operator(2, 0.3, 0);
  }
  const auto joules = meter.attributed(false);
  EXPECT_DOUBLE_EQ(joules[0], 10);
  EXPECT_DOUBLE_EQ(joules[1], 20);
  EXPECT_DOUBLE_EQ(joules[2], 30);
}

TEST(Meter, IdleEnergyIsSharedByTimeTheRestByProcessorTime) {
  // 60 J in 0.6 s, of which 50 W idle take 30 J; the other 30 J go 3 : 1 to operators with equal
  // times.
  Meter meter(2, 1e-3);
  meter.add_run(0.6, 60);
  meter.set_idle(50);
  meter.add_operator(0, 0.3, 0.6);
  meter.add_operator(1, 0.3, 0.2);
  const auto joules = meter.attributed(true);
  EXPECT_DOUBLE_EQ(joules[0], 15 + 22.5);
  EXPECT_DOUBLE_EQ(joules[1], 15 + 7.5);
}

TEST(Meter, IdlePowerIsLimitedToTheMeasuredPower) {
  Meter meter(2, 1e-3);
  meter.add_run(0.6, 60);
  meter.set_idle(500);
  meter.add_operator(0, 0.4, 0.1);
  meter.add_operator(1, 0.2, 0.9);
  const auto joules = meter.attributed(true);
  EXPECT_DOUBLE_EQ(joules[0], 40);
  EXPECT_DOUBLE_EQ(joules[1], 20);
}

TEST(Meter, WithoutProcessorTimeAllEnergyIsSharedByTime) {
  Meter meter(2, 1e-3);
  meter.add_run(0.6, 60);
  meter.set_idle(10);
  meter.add_operator(0, 0.1, 0);
  meter.add_operator(1, 0.2, 0);
  EXPECT_DOUBLE_EQ(meter.attributed(true)[1], 40);
}

TEST(Meter, OperatorsThatNeverRanGetNoEnergy) {
  Meter meter(2, 1e-3);
  meter.add_run(0.6, 60);
  meter.add_operator(1, 0.2, 0.1);
  EXPECT_EQ(meter.attributed(true), (std::vector<double>{0, 60}));
}

}  // namespace
