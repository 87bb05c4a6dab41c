#include "core/base/output_file.hpp"

#include <filesystem>
#include <fstream>

#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const auto path = ::testing::TempDir() + "report.json";
  std::ofstream(path) << "old";
  {
    OutputFile f(path);
    f.write("half of the new");
  }
  EXPECT_EQ(content(path), "old");
  {
    OutputFile f(path);
    f.write("new");
    f.commit();
  }
  EXPECT_EQ(content(path), "new");
  for (const auto& e : fs::directory_iterator(::testing::TempDir())) {
    EXPECT_EQ(e.path().string().find("report.json."), std::string::npos)
        << "left behind: " << e.path();
  }
}

TEST(OutputFile, UnwritablePlacesAreNamed) {
  testing::expect_error(ErrorKind::kUsage, {"/nonexistent/x.json", "No such file"},
                        [] { OutputFile f("/nonexistent/x.json"); });
  testing::expect_error(ErrorKind::kUsage, {"directory"},
                        [] { OutputFile f(::testing::TempDir()); });
}

}  // namespace
}  // namespace tmeter::core
