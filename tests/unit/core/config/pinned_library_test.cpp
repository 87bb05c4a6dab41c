// Files that may be loaded as plugins; the loaded file is the checked one.
#include "core/config/pinned_library.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "tests/support/new_folder.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

class Pinned : public ::testing::Test {
 protected:
  void SetUp() override { library_ = write("lib.tmeter", "first"); }
  void TearDown() override { fs::permissions(folder_, fs::perms::owner_all); }

  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string refusal(const std::string& library) {
    try {
      const PinnedLibrary opened(library);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kPlugin);
      return e.what();
    }
    return {};
  }
  const testing::NewFolder new_folder_{};
  const fs::path folder_ = new_folder_.path;
  std::string library_;
};

#define EXPECT_IN(words, text) EXPECT_NE((text).find(words), std::string::npos) << (text)

TEST_F(Pinned, IsTheFileThatWasOpened) {
  const PinnedLibrary opened(library_);
  EXPECT_EQ(opened.path(), library_);
  EXPECT_EQ(opened.folder(), fs::canonical(folder_).string());
  fs::rename(write("other.tmeter", "second"), library_);
  EXPECT_EQ(read(opened.path_by_descriptor()), "first");
  opened.require_unchanged();
}

TEST_F(Pinned, IsRefusedIfItIsModifiedMeanwhile) {
  const PinnedLibrary opened(library_);
  write("lib.tmeter", "longer than before");
  EXPECT_THROW(opened.require_unchanged(), Error);
}

TEST_F(Pinned, KeepsItsContentOnceItIsSealed) {
  PinnedLibrary opened(library_);
  opened.seal();
  write("lib.tmeter", "longer than before");
  opened.require_unchanged();
  EXPECT_EQ(read(opened.path_by_descriptor()), "first");
  EXPECT_LT(::write(opened.descriptor(), "x", 1), 0);
}

TEST_F(Pinned, IsARegularFile) {
  const auto fifo = (folder_ / "fifo.tmeter").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_IN("does not exist", refusal((folder_ / "missing").string()));
  EXPECT_IN("is a folder", refusal(folder_.string()));
  EXPECT_IN("is not a regular file", refusal(fifo));
  EXPECT_IN("is not a regular file", refusal("/dev/null"));
}

TEST_F(Pinned, IsRefusedIfOthersMayWriteToIt) {
  fs::permissions(library_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_IN("anybody on this machine can change it", refusal(library_));
}

TEST_F(Pinned, IsRefusedIfOthersMayWriteToItsFolder) {
  fs::permissions(folder_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_IN("of its folder " + folder_.string(), refusal(library_));
}

TEST_F(Pinned, IsRefusedIfOthersMayChangeALinkToIt) {
  const auto links = folder_ / "links";
  fs::create_directory(links);
  fs::create_symlink(library_, links / "lib.tmeter");
  EXPECT_EQ(refusal((links / "lib.tmeter").string()), "");
  fs::permissions(links, fs::perms::others_write, fs::perm_options::add);
  EXPECT_IN("of its folder " + links.string(), refusal((links / "lib.tmeter").string()));
}

TEST_F(Pinned, CircularAndDanglingLinksAreRefused) {
  fs::create_symlink("loop.tmeter", folder_ / "loop.tmeter");
  fs::create_symlink("nowhere.tmeter", folder_ / "dangling.tmeter");
  EXPECT_IN("cannot be read", refusal((folder_ / "loop.tmeter").string()));
  EXPECT_IN("does not exist", refusal((folder_ / "dangling.tmeter").string()));
}

TEST_F(Pinned, HasAnAbsolutePath) {
  const PinnedLibrary opened(fs::relative(library_).string());
  EXPECT_EQ(opened.path(), fs::absolute(fs::relative(library_)).lexically_normal().string());
}

}  // namespace
}  // namespace tmeter::core
