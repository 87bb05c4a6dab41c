#include <gtest/gtest.h>

#include "operators/torch_version.hpp"

namespace tmeter::torch_backend {
namespace {

TEST(TriedVersions, ATestedVersionGivesNoWarning) {
  for (const auto& [major, minor] : kTriedVersions) EXPECT_EQ(untried_version(major, minor), "");
}

TEST(TriedVersions, AnotherVersionIsNamedWithTheTestedOnes) {
  const auto newer = untried_version(2, 99);
  EXPECT_NE(newer.find("LibTorch 2.99"), std::string::npos) << newer;
  EXPECT_NE(newer.find("2.6, 2.8, 2.12, 2.15"), std::string::npos) << newer;
  EXPECT_FALSE(untried_version(3, 15).empty());
}

}  // namespace
}  // namespace tmeter::torch_backend
