// The PMU "power" with files as events: a read returns the counter, as from perf's descriptors.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "plugins/metrics/sensors/energy_counters.hpp"
#include "tests/unit/sensors/tree.hpp"

namespace {

constexpr double kScale = 2.3283064365386962890625e-10;  // 2^-32 J, as Linux prints it

class PerfEnergy : public Tree {
 protected:
  void pmu(const std::string& cpus) {
    const std::string folder = "sys/bus/event_source/devices/power/";
    write(folder + "type", "9\n");
    write(folder + "cpumask", cpus + "\n");
    for (const auto& [event, config] :
         std::map<std::string, std::string>{{"pkg", "0x02"}, {"ram", "0x03"}}) {
      write(folder + "events/energy-" + event, "event=" + config + "\n");
      write(folder + "events/energy-" + event + ".scale", "2.3283064365386962890625e-10\n");
      write(folder + "events/energy-" + event + ".unit", "Joules\n");
    }
  }
  /// A pipe into which the test writes the counter's next values.
  sensors::OpenPerfEvent opener() {
    return [this](uint32_t type, uint64_t config, int cpu) {
      EXPECT_EQ(type, 9u);
      int ends[2];
      if (pipe2(ends, O_NONBLOCK) != 0) return -errno;
      writers_[{config, cpu}] = ends[1];
      return ends[0];
    };
  }
  void shows(uint64_t config, int cpu, uint64_t value) {
    ASSERT_EQ(::write(writers_.at({config, cpu}), &value, sizeof value), 8);
  }
  ~PerfEnergy() override {
    for (const auto& [key, fd] : writers_) close(fd);
  }
  std::map<std::pair<uint64_t, int>, int> writers_;
};

TEST_F(PerfEnergy, EachPackageHasAProcessorThatCountsForIt) {
  pmu("0,36");
  const auto found = sensors::perf_counters(root_, opener());
  ASSERT_EQ(found.counters.size(), 4u);
  EXPECT_EQ(found.counters[1]->name(), "package-1");
  EXPECT_EQ(found.counters[3]->name(), "dram of package-1");
  shows(2, 36, uint64_t{5} << 32);
  EXPECT_DOUBLE_EQ(found.counters[1]->joules().value(), 0);
  shows(2, 36, uint64_t{8} << 32);  // 3 · 2^32 steps of 2^-32 J
  EXPECT_NEAR(found.counters[1]->joules().value(), 3.0, 3 * 4294967296.0 * kScale * 1e-9);
  shows(2, 36, 1);
  EXPECT_FALSE(found.counters[1]->joules().has_value()) << "perf's counters never go back";
}

TEST_F(PerfEnergy, AMissingPermissionNamesTheSetting) {
  pmu("0");
  const auto found = sensors::perf_counters(root_, [](uint32_t, uint64_t, int) { return -EACCES; });
  EXPECT_TRUE(found.counters.empty());
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_NE(found.problems[0].find("perf_event_paranoid"), std::string::npos);
  EXPECT_NE(found.problems[0].find("--profile"), std::string::npos);
}

TEST_F(PerfEnergy, AnInvalidPmuIsIgnored) {
  const std::string folder = "sys/bus/event_source/devices/power/";
  for (const auto& [file, text] :
       std::map<std::string, std::string>{{"type", "nine"},
                                          {"cpumask", "all"},
                                          {"events/energy-pkg", "event=two"},
                                          {"events/energy-pkg.scale", "-1"},
                                          {"events/energy-pkg.unit", "Watts"}}) {
    pmu("0");
    remove(folder + "events/energy-ram");
    write(folder + file, text);
    const auto found = sensors::perf_counters(root_, opener());
    EXPECT_TRUE(found.counters.empty()) << file;
    EXPECT_EQ(found.problems.size(), 1u) << file;
  }
}

TEST_F(PerfEnergy, TheSystemCallOfThisMachineAnswers) {
  const int fd = sensors::open_perf_event(0xffffffff, 0, 0);  // there is no such PMU
  EXPECT_LT(fd, 0);
  if (fd >= 0) close(fd);
}

}  // namespace
