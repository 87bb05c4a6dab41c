// Files of /proc and hwmon in the kernel's format (Linux 6.1), copied from its documentation
// (proc(5), Documentation/admin-guide/iostats.rst, Documentation/hwmon/sysfs-interface.rst).
#include "plugins/metrics/sensors/readings.hpp"
#include "tests/unit/sensors/tree.hpp"

namespace {

using Proc = Tree;

TEST_F(Proc, ProcessorTimes) {
  write("proc/stat",
        "cpu  30 0 30 300 10 0 0 0 0 0\n"
        "cpu0 10 2 20 100 5 1 2 3 4 0\n"
        "cpu1 20 0 10 200 5 0 0 0 0 0\nintr 12 3\nctxt 9\n");
  const auto times = sensors::cpu_times(root_);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_DOUBLE_EQ(times[0].busy, 10 + 2 + 20 + 1 + 2 + 3);
  EXPECT_DOUBLE_EQ(times[0].total, 10 + 2 + 20 + 100 + 5 + 1 + 2 + 3);
  EXPECT_DOUBLE_EQ(times[1].busy, 30);
}

TEST_F(Proc, FrequenciesAreReadFromCpufreqOrCpuinfo) {
  write("proc/cpuinfo",
        "processor\t: 0\ncpu MHz\t\t: 2299.998\n\nprocessor\t: 1\ncpu MHz\t\t: 800.000\n");
  EXPECT_EQ(sensors::cpu_frequencies(root_), (std::vector<double>{2299.998e6, 800e6}));
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3400000\n");
  write("sys/devices/system/cpu/cpu10/cpufreq/scaling_cur_freq", "1000000\n");
  write("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "2000000\n");
  write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  EXPECT_EQ(sensors::cpu_frequencies(root_), (std::vector<double>{3.4e9, 2e9, 1e9}));
}

TEST_F(Proc, TheProcess) {
  write("proc/self/status",
        "Name:\tVmRSS: 1\nVmPeak:\t  9 kB\nVmHWM:\t  4096 kB\nVmRSS:\t  1024 kB\nThreads:\t2\n");
  write("proc/self/io",
        "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 8192\nwrite_bytes: "
        "512\ncancelled_write_bytes: 0\n");
  write("proc/self/stat",
        "42 (a) b (c) R 1 42 42 0 -1 4194304 1234 5 67 0 10 5 0 0 20 0 1 0 100 1000 200\n");
  const auto state = sensors::process_state(root_);
  EXPECT_DOUBLE_EQ(state.resident.value(), 1024 * 1024);
  EXPECT_DOUBLE_EQ(state.peak.value(), 4096 * 1024);
  EXPECT_DOUBLE_EQ(state.read.value(), 8192);
  EXPECT_DOUBLE_EQ(state.written.value(), 512);
  EXPECT_DOUBLE_EQ(state.minor_faults.value(), 1234);
  EXPECT_DOUBLE_EQ(state.major_faults.value(), 67);
}

TEST_F(Proc, DisksAreCountedWithoutPartitionsAndVirtualDevices) {
  write("proc/diskstats",
        "   8       0 sda 10 0 100 5 20 0 200 9 0 1 1\n"
        "   8       1 sda1 10 0 100 5 20 0 200 9 0 1 1\n"
        " 259       0 nvme0n1 1 0 1000 1 1 0 2000 1 0 1 1\n"
        " 259       1 nvme0n1p1 1 0 1000 1 1 0 2000 1 0 1 1\n"
        "   7       0 loop0 1 0 1 1 1 0 1 1 0 1 1\n"
        " 253       0 dm-0 1 0 1 1 1 0 1 1 0 1 1\n"
        "   8      16 sdb 1 0 3 1 1 0 5 1 0 1 1\n");
  const auto traffic = sensors::disk_traffic(root_);
  EXPECT_DOUBLE_EQ(traffic.in.value(), (100 + 1000 + 3) * 512);
  EXPECT_DOUBLE_EQ(traffic.out.value(), (200 + 2000 + 5) * 512);
}

TEST_F(Proc, NetworksWithoutTheLoopback) {
  write("proc/net/dev",
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
        "    lo: 500 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n"
        "  eth0:1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n"
        "  eth1: 30 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0\n");
  const auto traffic = sensors::network_traffic(root_);
  EXPECT_DOUBLE_EQ(traffic.in.value(), 1030);
  EXPECT_DOUBLE_EQ(traffic.out.value(), 2040);
}

TEST_F(Proc, MissingFilesGiveNoValues) {
  EXPECT_TRUE(sensors::cpu_times(root_).empty());
  EXPECT_TRUE(sensors::cpu_frequencies(root_).empty());
  const auto state = sensors::process_state(root_);
  EXPECT_FALSE(state.resident || state.peak || state.read || state.written || state.minor_faults);
  EXPECT_FALSE(sensors::disk_traffic(root_).in);
  EXPECT_FALSE(sensors::network_traffic(root_).out);
  EXPECT_TRUE(sensors::temperature_probes(root_).empty());
  EXPECT_FALSE(sensors::throttle_events(root_));
}

TEST_F(Proc, GarbageGivesNoValue) {
  for (const std::string& garbage :
       {std::string("\0\xff\n\n:::\n", 8), std::string("cpu0"), std::string(300'000, ':'),
        std::string("cpu0 a b c d e\nVmRSS: x kB\nread_bytes: -1\n"), std::string(")")}) {
    for (const char* file : {"proc/stat", "proc/cpuinfo", "proc/self/status", "proc/self/io",
                             "proc/self/stat", "proc/diskstats", "proc/net/dev"})
      write(file, garbage);
    for (const auto& t : sensors::cpu_times(root_)) EXPECT_DOUBLE_EQ(t.total, 0);
    EXPECT_TRUE(sensors::cpu_frequencies(root_).empty());
    const auto state = sensors::process_state(root_);
    EXPECT_FALSE(state.resident || state.peak || state.read || state.written || state.major_faults);
    EXPECT_FALSE(sensors::disk_traffic(root_).in);
    EXPECT_FALSE(sensors::network_traffic(root_).in);
  }
}

TEST_F(Proc, TheMachineAtHand) {
  EXPECT_FALSE(sensors::cpu_times("").empty());
  EXPECT_GT(sensors::process_state("").resident.value_or(0), 0);
}

using Hwmon = Tree;

TEST_F(Hwmon, TemperaturesAndPowersHaveNames) {
  write("sys/class/hwmon/hwmon0/name", "coretemp\n");
  write("sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n");
  write("sys/class/hwmon/hwmon0/temp1_input", "45500\n");
  write("sys/class/hwmon/hwmon0/temp1_max", "100000\n");
  write("sys/class/hwmon/hwmon0/temp2_input", "-1000\n");
  write("sys/class/hwmon/hwmon0/temp3_input", "hot\n");
  write("sys/class/hwmon/hwmon1/power1_average", "12500000\n");
  const auto temperatures = sensors::temperature_probes(root_);
  ASSERT_EQ(temperatures.size(), 2u);
  EXPECT_EQ(temperatures[0].name, "coretemp: Package id 0");
  EXPECT_DOUBLE_EQ(sensors::read_probe(temperatures[0]).value(), 45.5);
  EXPECT_EQ(temperatures[1].name, "coretemp: temp2");
  EXPECT_DOUBLE_EQ(sensors::read_probe(temperatures[1]).value(), -1);
  const auto powers = sensors::power_probes(root_);
  ASSERT_EQ(powers.size(), 1u);
  EXPECT_EQ(powers[0].name, "hwmon1: power1");
  EXPECT_DOUBLE_EQ(sensors::read_probe(powers[0]).value(), 12.5);
  remove("sys/class/hwmon/hwmon1");
  EXPECT_FALSE(sensors::read_probe(powers[0]));
}

TEST_F(Hwmon, SlowDownsOfPackagesAreNotCountedByCore) {
  write("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "3\n");
  write("sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "3\n");
  EXPECT_DOUBLE_EQ(sensors::throttle_events(root_).value(), 3);
}

}  // namespace
