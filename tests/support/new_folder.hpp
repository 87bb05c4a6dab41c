// A new folder for a test, removed with its contents at the end.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace tmeter::testing {

struct NewFolder {
  NewFolder() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
  ~NewFolder() { std::filesystem::remove_all(path); }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::string path = ::testing::TempDir() + "tmeter-XXXXXX";
};

}  // namespace tmeter::testing
