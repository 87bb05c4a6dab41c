// Powercap trees as Linux has them, and faulty ones.
#include <unistd.h>

#include "plugins/metrics/sensors/energy_counters.hpp"
#include "tests/unit/sensors/tree.hpp"

namespace {

using sensors::powercap_counters;

class Powercap : public Tree {
 protected:
  void zone(const std::string& zone, const std::string& name, const std::string& energy,
            const std::string& range = "262143328850\n") {
    const auto folder = "sys/class/powercap/" + zone + "/";
    write(folder + "name", name + "\n");
    write(folder + "energy_uj", energy);
    if (!range.empty()) write(folder + "max_energy_range_uj", range);
  }
  void energy(const std::string& zone, const std::string& text) {
    write("sys/class/powercap/" + zone + "/energy_uj", text);
  }
};

TEST_F(Powercap, PackagesAndTheirMemoryAreCountedOnce) {
  zone("intel-rapl:0", "package-0", "1000000\n");
  zone("intel-rapl:0:0", "core", "1\n");
  zone("intel-rapl:0:1", "dram", "500000\n");
  zone("intel-rapl:1", "package-1", "7000000\n");
  zone("intel-rapl:1:0", "dram", "100\n");
  zone("intel-rapl:2", "psys", "1\n");
  zone("intel-rapl-mmio:0", "package-0", "1\n");
  const auto found = powercap_counters(root_);
  ASSERT_EQ(found.counters.size(), 4u);
  EXPECT_EQ(found.counters[0]->name(), "package-0");
  EXPECT_EQ(found.counters[1]->name(), "dram of package-0");
  EXPECT_EQ(found.counters[2]->name(), "package-1");
  EXPECT_EQ(found.counters[3]->name(), "dram of package-1");
  EXPECT_TRUE(found.problems.empty());

  energy("intel-rapl:0", "3500000\n");  // 2.5 J more
  energy("intel-rapl:1:0", "600100\n");
  EXPECT_DOUBLE_EQ(found.counters[0]->joules().value(), 2.5);
  EXPECT_DOUBLE_EQ(found.counters[1]->joules().value(), 0);
  EXPECT_DOUBLE_EQ(found.counters[3]->joules().value(), 0.6);
}

TEST_F(Powercap, APackageWithoutMemoryIsThePackageAlone) {
  zone("intel-rapl:0", "package-0", "0");
  EXPECT_EQ(powercap_counters(root_).counters.size(), 1u);
}

TEST_F(Powercap, AnOverflowLosesNoEnergy) {
  zone("intel-rapl:0", "package-0", "9000000\n", "10000000\n");
  const auto found = powercap_counters(root_);
  energy("intel-rapl:0", "500000\n");  // 1 J to the wrap-around, and 0.5 J
  EXPECT_DOUBLE_EQ(found.counters[0]->joules().value(), 1.5);
  energy("intel-rapl:0", "400000\n");  // 9.6 J + 0.5 J after the next wrap-around: 1.5 + 9.5 + 0.4
  EXPECT_DOUBLE_EQ(found.counters[0]->joules().value(), 1.5 + 9.5 + 0.4);
}

TEST_F(Powercap, AStepBackWithoutARangeEndsTheCounter) {
  zone("intel-rapl:0", "package-0", "9000000\n", "");
  zone("intel-rapl:1", "package-1", "9000000\n", "8\n");
  const auto found = powercap_counters(root_);
  energy("intel-rapl:0", "1\n");
  energy("intel-rapl:1", "1\n");
  EXPECT_FALSE(found.counters[0]->joules().has_value());
  EXPECT_FALSE(found.counters[1]->joules().has_value());
  energy("intel-rapl:0", "99000000\n");
  EXPECT_FALSE(found.counters[0]->joules().has_value()) << "once gone, always gone";
}

TEST_F(Powercap, AFileThatVanishesOrHoldsGarbageEndsTheCounter) {
  for (const char* garbage : {"", "abc", "12abc", "-5", "99999999999999999999999", "1 2", "0x10"}) {
    zone("intel-rapl:0", "package-0", "10\n");
    const auto found = powercap_counters(root_);
    energy("intel-rapl:0", garbage);
    EXPECT_FALSE(found.counters[0]->joules().has_value()) << garbage;
  }
  zone("intel-rapl:0", "package-0", "10\n");
  const auto found = powercap_counters(root_);
  remove("sys");
  EXPECT_FALSE(found.counters[0]->joules().has_value());
}

TEST_F(Powercap, GarbageAtTheStartIsAProblemThatNamesTheFile) {
  zone("intel-rapl:0", "package-0", "soon");
  const auto found = powercap_counters(root_);
  EXPECT_TRUE(found.counters.empty());
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_NE(found.problems[0].find("intel-rapl:0/energy_uj"), std::string::npos);
}

TEST_F(Powercap, AMissingPermissionNamesTheFileAndTheRemedy) {
  if (geteuid() == 0) {  // root may read everything, so another user reads
    zone("intel-rapl:0", "package-0", "10\n");
    const auto path = root_ + "/sys/class/powercap/intel-rapl:0/energy_uj";
    chmod(path.c_str(), 0400);
    chmod(root_.c_str(), 0755);
    ASSERT_EQ(seteuid(65534), 0);
    const auto found = powercap_counters(root_);
    ASSERT_EQ(seteuid(0), 0);
    ASSERT_EQ(found.problems.size(), 1u);
    EXPECT_NE(found.problems[0].find("sudo chmod a+r " + path), std::string::npos);
  } else {
    zone("intel-rapl:0", "package-0", "10\n");
    const auto path = root_ + "/sys/class/powercap/intel-rapl:0/energy_uj";
    chmod(path.c_str(), 0);
    const auto found = powercap_counters(root_);
    ASSERT_EQ(found.problems.size(), 1u);
    EXPECT_NE(found.problems[0].find("sudo chmod a+r " + path), std::string::npos);
  }
}

TEST_F(Powercap, MissingCountersAreReported) {
  const auto found = powercap_counters(root_);
  EXPECT_TRUE(found.counters.empty());
  EXPECT_EQ(found.problems.size(), 1u);
}

TEST_F(Powercap, TwelvePackagesKeepTheirOrder) {
  for (int i = 0; i < 12; ++i)
    zone("intel-rapl:" + std::to_string(i), "package-" + std::to_string(i), "0");
  const auto found = powercap_counters(root_);
  ASSERT_EQ(found.counters.size(), 12u);
  EXPECT_EQ(found.counters[11]->name(), "package-11");
}

}  // namespace
