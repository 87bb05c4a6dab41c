// Curves of a machine that is a tree of files, calculated by hand.
#include "plugins/metrics/system/recorder.hpp"

#include <cstdlib>

#include "tests/unit/sensors/tree.hpp"

namespace {

using system_load::Curve;
using system_load::interval_of;
using system_load::Recorder;

class RecorderTest : public Tree {
 protected:
  /// Two processors, with busy and idle ticks.
  void cpus(int busy0, int idle0, int busy1, int idle1) {
    write("proc/stat", "cpu 0 0 0 0 0 0 0 0\ncpu0 " + std::to_string(busy0) + " 0 0 " +
                           std::to_string(idle0) + " 0 0 0 0\ncpu1 " + std::to_string(busy1) +
                           " 0 0 " + std::to_string(idle1) + " 0 0 0 0\n");
  }
  void process(int kib, int minor, int major) {
    write("proc/self/status", "VmHWM:\t9000 kB\nVmRSS:\t" + std::to_string(kib) + " kB\n");
    write("proc/self/stat", "1 (x) R 1 1 1 0 -1 0 " + std::to_string(minor) + " 0 " +
                                std::to_string(major) + " 0 1 1\n");
  }
  void traffic(int sectors, int received) {
    write("proc/diskstats", " 8 0 sda 1 0 " + std::to_string(sectors) + " 1 1 0 0 1 0 1 1\n");
    write("proc/net/dev", "eth0: " + std::to_string(received) + " 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0\n");
  }
  Recorder recorder() { return Recorder({root_, "libnot-there.so"}, std::nullopt); }
};

TEST_F(RecorderTest, LoadIsTheBusyShareBetweenTwoReadings) {
  auto r = recorder();
  cpus(100, 100, 50, 50);
  r.read(10.0);
  cpus(130, 110, 50, 90);  // 30 of 40 and 0 of 40 ticks
  r.read(10.5);
  cpus(130, 150, 90, 90);  // 0 of 40 and 40 of 40
  r.read(11.5);
  const auto* all = r.curve("cpu_utilisation");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->points().size(), 2u);
  EXPECT_DOUBLE_EQ(all->points()[0].seconds, 0.5);
  EXPECT_DOUBLE_EQ(all->points()[0].value, 37.5);
  EXPECT_DOUBLE_EQ(all->points()[1].seconds, 1.5);
  EXPECT_DOUBLE_EQ(all->points()[1].value, 50);
  EXPECT_DOUBLE_EQ(r.curve("cpu0_utilisation")->points()[0].value, 75);
  EXPECT_DOUBLE_EQ(r.curve("cpu1_utilisation")->points()[1].value, 100);
  EXPECT_DOUBLE_EQ(all->mean(), 43.75);
  EXPECT_EQ(r.curves().front()->id(), "cpu_utilisation");
}

TEST_F(RecorderTest, MemoryFaultsDisksAndNetworks) {
  auto r = recorder();
  process(1000, 10, 1), traffic(100, 1000);
  r.read(0);
  process(3000, 60, 3), traffic(300, 1500);
  r.read(0.5);
  process(2000, 60, 3), traffic(300, 1500);
  r.read(1);
  EXPECT_DOUBLE_EQ(r.curve("resident")->peak(), 3000 * 1024);
  EXPECT_DOUBLE_EQ(r.peak_resident().value(), 9000 * 1024);
  EXPECT_DOUBLE_EQ(r.curve("page_faults")->points()[0].value, 100);  // 50 in 0.5 s
  EXPECT_DOUBLE_EQ(r.curve("disk_read")->points()[0].value, 200 * 512 / 0.5);
  EXPECT_DOUBLE_EQ(r.curve("network_received")->points()[0].value, 1000);
  const auto increases = r.increases();
  EXPECT_DOUBLE_EQ(increases.minor_faults.value(), 50);
  EXPECT_DOUBLE_EQ(increases.major_faults.value(), 2);
  EXPECT_DOUBLE_EQ(increases.disk_read.value(), 200 * 512);
  EXPECT_DOUBLE_EQ(increases.received.value(), 500);
  EXPECT_DOUBLE_EQ(increases.sent.value(), 0);
}

TEST_F(RecorderTest, AMachineWithoutReadingsHasNoCurves) {
  auto r = recorder();
  for (int i = 0; i < 3; ++i) r.read(i);
  EXPECT_TRUE(r.curves().empty());
  EXPECT_FALSE(r.increases().disk_read || r.increases().minor_faults || r.peak_resident());
}

TEST_F(RecorderTest, FilesThatVanishOrGoBackLeaveGaps) {
  auto r = recorder();
  cpus(1, 1, 1, 1), traffic(100, 100);
  r.read(0);
  remove("proc/stat");
  traffic(50, 200);  // a disk that was removed
  r.read(1);
  cpus(9, 9, 9, 9);
  r.read(2);
  EXPECT_FALSE(r.curve("cpu_utilisation")) << "never two readings in a row";
  EXPECT_FALSE(r.increases().disk_read);
  EXPECT_DOUBLE_EQ(r.increases().received.value(), 100);
}

TEST_F(RecorderTest, AStoppedClockAddsNoPoints) {
  auto r = recorder();
  cpus(1, 1, 1, 1);
  for (const double t : {5.0, 5.0, 4.0}) r.read(t);
  EXPECT_TRUE(r.curves().empty());
}

TEST_F(RecorderTest, AGpuOfTheStub) {
  setenv("STUB_NVML_COUNT", "1", 1), setenv("STUB_NVML_UTILISATION", "80", 1);
  setenv("STUB_NVML_MEMORY", "4096", 1), setenv("STUB_NVML_POWER", "99500", 1);
  Recorder r({root_, STUB_NVML}, 0);
  r.read(0), r.read(1);
  EXPECT_DOUBLE_EQ(r.curve("gpu_utilisation")->mean(), 80);
  EXPECT_DOUBLE_EQ(r.curve("gpu_memory")->peak(), 4096);
  EXPECT_DOUBLE_EQ(r.curve("gpu_power")->mean(), 99.5);
  EXPECT_FALSE(r.curve("gpu_temperature"));
  EXPECT_EQ(Recorder({root_, STUB_NVML}, 3).gpu_problem(), "NVML has no GPU 3");
  EXPECT_NE(Recorder({root_, "libnot-there.so"}, 0).gpu_problem(), "");
  for (const char* name : {"COUNT", "UTILISATION", "MEMORY", "POWER"})
    unsetenv((std::string("STUB_NVML_") + name).c_str());
}

TEST(CurveTest, LongCurvesAreThinnedAndStayTrue) {
  Curve curve("a", "a", "");
  for (int i = 0; i < 100'000; ++i) curve.add(i + 1, i % 10);
  EXPECT_LT(curve.points().size(), 2000u);
  EXPECT_GE(curve.points().size(), 999u);
  EXPECT_DOUBLE_EQ(curve.mean(), 4.5);
  EXPECT_DOUBLE_EQ(curve.peak(), 9);
  for (size_t i = 1; i < curve.points().size(); ++i)
    ASSERT_LT(curve.points()[i - 1].seconds, curve.points()[i].seconds);
}

TEST(Interval, AsUsersWriteIt) {
  EXPECT_EQ(interval_of("100ms"), 100'000'000u);
  EXPECT_EQ(interval_of("0.5s"), 500'000'000u);
  EXPECT_EQ(interval_of("2min"), 120'000'000'000u);
  for (const char* wrong :
       {"", "100", "ms", "1us", "9ms", "-1s", "1e9s", "nans", "inf s", "100 ms", "100msx", "2h"})
    EXPECT_FALSE(interval_of(wrong)) << wrong;
}

}  // namespace
