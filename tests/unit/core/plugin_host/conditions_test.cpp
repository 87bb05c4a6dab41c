// The conditions with which loaders declare the files they read (abi/loader.h).
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/plugin_host/model_loading.hpp"
#include "core/plugin_host/source.hpp"
#include "tests/support/zip_writer.hpp"

namespace tmeter {
namespace {

class Conditions : public ::testing::Test {
 protected:
  bool hold(const std::string& conditions, const std::string& content) {
    const auto path = std::filesystem::path(::testing::TempDir()) /
                      ("conditions_model_" + std::to_string(getpid()) + ".pt");
    std::ofstream(path, std::ios::binary) << content;
    const tmeter_source source(path.string());
    return core::conditions_hold(conditions, source);
  }
};

TEST_F(Conditions, BytesAtAnOffsetAreCompared) {
  EXPECT_TRUE(hold("at:8:7b", "12345678{}"));
  EXPECT_FALSE(hold("at:8:7b", "123456789{"));
  EXPECT_TRUE(hold("at:0:3132", "12"));
  EXPECT_FALSE(hold("at:1:3233", "12"));
  EXPECT_FALSE(hold("at:99999999999999999999:31", "12"));
  for (const char* broken : {"at:", "at:8", "at:x:31", "at:-1:31", "at::31", "at:0:3"})
    EXPECT_FALSE(hold(broken, "12")) << broken;
}

TEST_F(Conditions, AllConditionsMustHold) {
  EXPECT_TRUE(hold("magic:3132 name:*.pt at:2:33", "123"));
  EXPECT_FALSE(hold("magic:3132 name:*.bin", "123"));
  const auto zip = testing::ZipWriter::make({{"m/data.pkl", "x"}});
  EXPECT_TRUE(hold("zip:*/data.pkl !zip:*/code/*", zip));
  EXPECT_FALSE(hold("zip:*/data.pkl !zip:*.pkl", zip));
}

}  // namespace
}  // namespace tmeter
