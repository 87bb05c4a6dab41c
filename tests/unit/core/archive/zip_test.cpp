#include "core/archive/zip.hpp"

#include "tests/support/expect_error.hpp"
#include "tests/support/zip_writer.hpp"

namespace tmeter {
namespace {
using core::ErrorKind;
using core::ZipArchive;
using testing::expect_error;
using testing::ZipWriter;

void expect_damaged(const std::string& file, const std::string& word) {
  expect_error(ErrorKind::kModel, {"archive is damaged", word}, [&] { ZipArchive z(file); });
}

TEST(Zip, StoredEntryIsAViewOfTheFile) {
  const auto file =
      ZipWriter::make({{"m/a", std::string(100, 'x')}, {"m/b", std::string(200, 'y')}});
  const ZipArchive z(file);
  ASSERT_EQ(z.entries().size(), 2u);
  const auto content = z.read(*z.find("m/a"));
  EXPECT_EQ(content, std::string(100, 'x'));
  EXPECT_GE(content.data(), file.data());
  EXPECT_LT(content.data(), file.data() + file.size());
  EXPECT_FALSE(z.find("m/c"));
}

TEST(Zip, LastEntryHasReadablePaddingAfterIt) {
  const auto file = ZipWriter::make({{"a", "xyz"}});
  const ZipArchive z(file);
  const auto content = z.read(0);
  EXPECT_EQ(content, "xyz");
  EXPECT_NO_FATAL_FAILURE((void)std::string(content.data(), content.size() + 64));
}

TEST(Zip, TruncatedFileIsRefused) {
  const auto file = ZipWriter::make({{"a", std::string(1000, 'x')}});
  expect_damaged(file.substr(0, 500), "truncated");
  expect_damaged("PK\x03\x04", "too short");
}

TEST(Zip, EntryThatClaimsMoreBytesThanTheFileHasIsRefused) {
  expect_damaged(ZipWriter::make({{"a", "x", 5000, 5000}}), "beyond the end");
}

TEST(Zip, StoredEntryWithAWrongSizeIsRefused) {
  expect_damaged(ZipWriter::make({{"a", "xyz", 2, 3}}), "has contradictory sizes");
}

TEST(Zip, EntryWithAnotherSizeInItsLocalHeaderIsRefused) {
  expect_damaged(ZipWriter::make({{"a", "xyz", 2, 2}, {"b", "x"}}), "different size");
}

TEST(Zip, EntryThatReachesIntoTheDirectoryIsRefused) {
  auto items = std::vector<testing::ZipItem>{{"a", "x", 20, 20}};
  items[0].flags = 8;  // its sizes follow the content
  expect_damaged(ZipWriter::make(items), "extends into the directory");
}

TEST(Zip, DeflateBombSizeIsRefusedBeforeInflating) {
  auto items = std::vector<testing::ZipItem>{{"bomb", "x", 0x7fffffff, 1}};
  items[0].method = 8;
  expect_damaged(ZipWriter::make(items), "claims to inflate");
}

TEST(Zip, DuplicateNamesAreRefused) {
  expect_damaged(ZipWriter::make({{"a", "1"}, {"a", "2"}}), "twice");
}

TEST(Zip, OverlappingEntriesAreRefused) {
  auto items = std::vector<testing::ZipItem>{{"a", "0123456789"}, {"b", "x"}};
  items[1].claimed_offset = 0;
  items[1].name = "a2";
  items[1].local_name = "a2";
  // Points at the first header, whose name differs.
  expect_damaged(ZipWriter::make(items), "a different name");
}

TEST(Zip, NameThatDiffersBetweenHeadersIsRefused) {
  auto items = std::vector<testing::ZipItem>{{"safe", "x"}};
  items[0].local_name = "evil";
  expect_damaged(ZipWriter::make(items), "a different name");
}

TEST(Zip, EncryptedEntryIsRefused) {
  auto items = std::vector<testing::ZipItem>{{"a", "x"}};
  items[0].flags = 1;
  expect_damaged(ZipWriter::make(items), "encrypted");
}

}  // namespace
}  // namespace tmeter
