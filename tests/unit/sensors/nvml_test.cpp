// NVML through a stub library whose answers are environment variables.
#include "plugins/metrics/sensors/nvml.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using sensors::Nvml;

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void says(const char* what, const char* value) {
    setenv((std::string("STUB_NVML_") + what).c_str(), value, 1);
  }
  static void silent(const char* what) { unsetenv((std::string("STUB_NVML_") + what).c_str()); }

 private:
  static void clear() {
    for (const char* what :
         {"INIT", "COUNT", "ENERGY", "POWER", "UTILISATION", "MEMORY", "TEMPERATURE", "REASONS"})
      silent(what);
  }
};

TEST_F(NvmlTest, DevicesAsPyTorchNamesThem) {
  EXPECT_EQ(sensors::gpu_of("cuda"), 0u);
  EXPECT_EQ(sensors::gpu_of("cuda:0"), 0u);
  EXPECT_EQ(sensors::gpu_of("cuda:12"), 12u);
  EXPECT_FALSE(sensors::gpu_of("cpu"));
  EXPECT_FALSE(sensors::gpu_of(""));
}

TEST_F(NvmlTest, AMissingLibraryIsNamed) {
  const Nvml nvml("libnot-there.so.1");
  EXPECT_EQ(nvml.count(), 0u);
  EXPECT_NE(nvml.problem().find("libnot-there.so.1"), std::string::npos);
}

TEST_F(NvmlTest, AnotherLibraryIsRefused) {
  EXPECT_NE(Nvml("libc.so.6").problem().find("does not have its functions"), std::string::npos);
}

TEST_F(NvmlTest, AMissingDriverIsReportedInNvmlsWords) {
  says("INIT", "9");
  EXPECT_EQ(Nvml(STUB_NVML).problem(), "NVML: Driver Not Loaded");
}

TEST_F(NvmlTest, WithoutDevices) {
  says("COUNT", "0");
  EXPECT_EQ(Nvml(STUB_NVML).problem(), "NVML: no devices");
}

TEST_F(NvmlTest, TheEnergyCounterStartsAtZero) {
  says("COUNT", "2");
  says("ENERGY", "123456");
  Nvml nvml(STUB_NVML);
  ASSERT_EQ(nvml.count(), 2u);
  const auto counter = nvml.counter(1);
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->name(), "GPU 1 (Stub GPU)");
  EXPECT_EQ(counter->by(), "NVML");
  says("ENERGY", "125956");  // 2500 mJ more
  EXPECT_DOUBLE_EQ(counter->joules().value(), 2.5);
  silent("ENERGY");
  EXPECT_FALSE(counter->joules().has_value());
  says("ENERGY", "999999");
  EXPECT_FALSE(counter->joules().has_value());
}

TEST_F(NvmlTest, ACounterThatStartsAgainIsUnavailable) {
  says("COUNT", "1"), says("ENERGY", "1000");
  Nvml nvml(STUB_NVML);
  const auto counter = nvml.counter(0);
  says("ENERGY", "10");
  EXPECT_FALSE(counter->joules().has_value());
}

TEST_F(NvmlTest, WithoutACounterPowerIsIntegrated) {
  says("COUNT", "1"), says("POWER", "250000");
  Nvml nvml(STUB_NVML);
  const auto counter = nvml.counter(0);
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->by(), "NVML, power integrated");
  const double first = counter->joules().value();
  const double second = counter->joules().value();
  EXPECT_GE(first, 0);
  EXPECT_GE(second, first);
  silent("POWER");
  EXPECT_FALSE(counter->joules().has_value());
}

TEST_F(NvmlTest, WithoutEnergyAndPowerThereIsNoCounter) {
  says("COUNT", "1");
  EXPECT_FALSE(Nvml(STUB_NVML).counter(0));
}

TEST_F(NvmlTest, TrapezoidsUnderPower) {
  sensors::Integral integral;
  EXPECT_DOUBLE_EQ(integral.add(10.0, 100), 0);
  EXPECT_DOUBLE_EQ(integral.add(10.5, 100), 50);
  EXPECT_DOUBLE_EQ(integral.add(11.5, 300), 250);  // + (100 + 300) / 2 · 1 s
  EXPECT_DOUBLE_EQ(integral.add(11.5, 900), 250) << "no time, no energy";
  EXPECT_DOUBLE_EQ(integral.add(11.0, 900), 250) << "nor before the last reading";
}

TEST_F(NvmlTest, ReadingsOfADeviceAreConverted) {
  says("COUNT", "1"), says("UTILISATION", "37"), says("MEMORY", "1073741824"),
      says("TEMPERATURE", "65");
  says("POWER", "312500"), says("REASONS", "68");  // 0x04 power cap, 0x40 thermal, by hardware
  Nvml nvml(STUB_NVML);
  const auto state = nvml.state(0);
  EXPECT_DOUBLE_EQ(state.utilisation.value(), 0.37);
  EXPECT_DOUBLE_EQ(state.memory.value(), 1073741824);
  EXPECT_DOUBLE_EQ(state.temperature.value(), 65);
  EXPECT_DOUBLE_EQ(state.power.value(), 312.5);
  EXPECT_EQ(state.throttled, (std::vector<std::string>{"power cap", "thermal, by hardware"}));
}

TEST_F(NvmlTest, MissingReadingsOfADeviceAreEmpty) {
  says("COUNT", "1");
  const auto state = Nvml(STUB_NVML).state(0);
  EXPECT_FALSE(state.utilisation || state.memory || state.temperature || state.power);
  EXPECT_TRUE(state.throttled.empty());
}

}  // namespace
