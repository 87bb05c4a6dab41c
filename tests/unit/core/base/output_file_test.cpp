#include "core/base/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
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

TEST(OutputFile, DevicesAndPipesAreWrittenToNotReplaced) {
  const auto path = ::testing::TempDir() + "pipe-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  OutputFile f(path);
  f.write("report");
  f.commit();
  std::array<char, 16> seen{};
  EXPECT_EQ(read(reader, seen.data(), seen.size()), 6);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(path));
  fs::remove(path);

  OutputFile null("/dev/null");  // as root this once made a regular file of it
  null.write("report");
  null.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, ALinkStaysALink) {
  const auto target = ::testing::TempDir() + "target-" + std::to_string(getpid());
  const auto link = target + ".link";
  std::ofstream(target) << "old";
  fs::create_symlink(target, link);
  OutputFile f(link);
  f.write("new");
  f.commit();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(target), "new");
  fs::remove(link);
  fs::remove(target);
}

}  // namespace
}  // namespace tmeter::core
