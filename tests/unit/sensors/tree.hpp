// A tree of files in place of /sys and /proc, removed after the test.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

class Tree : public testing::Test {
 protected:
  Tree() {
    std::string pattern = testing::TempDir() + "tmeter-sensors-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~Tree() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const auto file = std::filesystem::path(root_ + "/" + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_ + "/" + path); }

  std::string root_;
};
