// Archives written byte by byte, each wrong in one place: APPNOTE.TXT 6.3.10, sections 4.3.7 (local
// header), 4.3.12 (directory), 4.3.14–16 (ZIP64 and end records), 4.5.3 (ZIP64 field).
#include "core/archive/zip.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter {
namespace {
using core::ErrorKind;
using core::ZipArchive;
using testing::expect_error;

constexpr uint32_t kIn64 = 0xffffffffu;  // the value is in the ZIP64 field

std::string number(uint64_t value, size_t bytes) {
  std::string out;
  for (; out.size() < bytes; value >>= 8) out += static_cast<char>(value & 0xff);
  return out;
}

/// The fields of an entry's two headers.
struct Entry {
  std::string name = "a", content = "0123456789";
  uint16_t method = 0, flags = 0;
  uint32_t size = 10, compressed = 10;
  std::string extra{}, comment{};
  // Fields of the local header.
  std::string local_name = name, local_extra{};
  uint16_t local_method = method, local_flags = flags;
  uint32_t local_size = size, local_compressed = compressed;

  std::string local() const {
    return number(0x04034b50, 4) + number(20, 2) + number(local_flags, 2) +
           number(local_method, 2) + number(0, 8) + number(local_compressed, 4) +
           number(local_size, 4) + number(local_name.size(), 2) + number(local_extra.size(), 2) +
           local_name + local_extra + content;
  }
  std::string central(uint32_t offset) const {
    return number(0x02014b50, 4) + number(20, 2) + number(20, 2) + number(flags, 2) +
           number(method, 2) + number(0, 8) + number(compressed, 4) + number(size, 4) +
           number(name.size(), 2) + number(extra.size(), 2) + number(comment.size(), 2) +
           number(0, 8) + number(offset, 4) + name + extra + comment;
  }
};

/// Two headers that agree and are changed together.
Entry entry(const std::string& name, const std::string& content) {
  const auto size = static_cast<uint32_t>(content.size());
  Entry e;
  e.name = e.local_name = name;
  e.content = content;
  e.size = e.compressed = e.local_size = e.local_compressed = size;
  return e;
}

std::string end_record(uint64_t count, uint64_t size, uint64_t offset, const std::string& comment) {
  return number(0x06054b50, 4) + number(0, 4) + number(count, 2) + number(count, 2) +
         number(size, 4) + number(offset, 4) + number(comment.size(), 2) + comment;
}

std::string archive(const std::vector<Entry>& entries, const std::string& comment = {}) {
  std::string out, directory;
  for (const auto& e : entries) {
    directory += e.central(static_cast<uint32_t>(out.size()));
    out += e.local();
  }
  return out + directory + end_record(entries.size(), directory.size(), out.size(), comment);
}

void expect_damaged(const std::string& file, const std::string& word) {
  expect_error(ErrorKind::kModel, {"archive is damaged", word}, [&] { ZipArchive z(file); });
}
void expect_damaged(const Entry& e, const std::string& word) { expect_damaged(archive({e}), word); }

/// Expects a valid archive whose only entry has this content.
void expect_content(const std::string& file, const std::string& content = "0123456789") {
  const ZipArchive z(file);
  ASSERT_EQ(z.entries().size(), 1u);
  EXPECT_EQ(z.read(0), content);
}
void expect_content(const Entry& e) { expect_content(archive({e})); }

// --- entries ------------------------------------------------------------------------------------

TEST(ZipLayout, EntriesThatShareBytesAreRefused) {
  // The content of `outer` is a whole entry of its own: headers, name and data.
  const auto inner = entry("inner", "0123456789");
  const auto outer = entry("outer", inner.local());
  const auto start = static_cast<uint32_t>(outer.local().size() - inner.local().size());
  for (const bool outer_first : {true, false}) {
    const auto first = outer.central(0), second = inner.central(start);
    const auto directory = outer_first ? first + second : second + first;
    const auto file = outer.local() + directory;
    expect_damaged(file + end_record(2, directory.size(), outer.local().size(), {}),
                   "two of its entries overlap");
  }
}

TEST(ZipLayout, EntriesMayHaveAnyOrderAndGaps) {
  const auto a = entry("a", "first"), b = entry("b", "second");
  const auto content = a.local() + "nothing" + b.local();
  const auto directory = b.central(static_cast<uint32_t>(a.local().size() + 7)) + a.central(0);
  const auto file = content + directory + end_record(2, directory.size(), content.size(), {});
  const ZipArchive z(file);
  EXPECT_EQ(z.read(*z.find("a")), "first");
  EXPECT_EQ(z.read(*z.find("b")), "second");
}

TEST(ZipLayout, LastByteOfAnEntryMayTouchTheDirectoryNotReachIntoIt) {
  expect_content(Entry{});
  Entry longer;
  longer.size = longer.compressed = longer.local_size = longer.local_compressed = 11;
  expect_damaged(longer, "extends into the directory");
}

TEST(ZipLayout, ExtraFieldOfTheLocalHeaderIsSkipped) {
  Entry e;
  e.local_extra = "FB" + number(3, 2) + "ZZZ";  // PyTorch's padding of records
  expect_content(e);
}

TEST(ZipLayout, CommentOfAnEntryIsSkipped) {
  auto a = entry("a", "0123456789"), b = entry("b", "x");
  a.comment = "made by hand", a.extra = number(7, 2) + number(0, 2), b.comment = "too";
  const auto file = archive({a, b});
  const ZipArchive z(file);
  ASSERT_EQ(z.entries().size(), 2u);
  EXPECT_EQ(z.read(*z.find("a")), "0123456789");
  EXPECT_EQ(z.read(*z.find("b")), "x");
  // One that is longer than the directory.
  auto central = a.central(0);
  central[32] = 100;
  expect_damaged(a.local() + central + end_record(1, central.size(), a.local().size(), {}),
                 "its directory is cut off");
}

TEST(ZipLayout, BothHeadersMustAgree) {
  Entry name;
  name.local_name = "b";
  expect_damaged(name, "a different name");
  name.local_name = "ab";
  expect_damaged(name, "a different name");
  Entry method;
  method.local_method = 8;
  expect_damaged(method, "different name or method");
}

TEST(ZipLayout, SizesOfTheLocalHeaderAreTheSameOrLeftOut) {
  Entry e;
  for (const uint32_t left_out : {uint32_t{0}, kIn64, uint32_t{10}}) {
    e.local_size = e.local_compressed = left_out;
    expect_content(e);
  }
  e.local_size = 9;
  expect_damaged(e, "different size in its local header");
  e.local_size = 10, e.local_compressed = 11;
  expect_damaged(e, "different size in its local header");
  e.local_flags = e.flags = 8;  // the sizes follow the content
  expect_content(e);
}

TEST(ZipLayout, FlagsThatChangeNothingAreAccepted) {
  Entry e;
  e.flags = e.local_flags = 0x0800;  // the name is UTF-8
  expect_content(e);
  e.flags = 0x0801;
  expect_damaged(e, "is encrypted");
}

TEST(ZipLayout, OnlyStoredAndDeflatedEntriesAreRead) {
  for (const uint16_t method : {1, 7, 9, 12}) {
    Entry e;
    e.method = e.local_method = method;
    expect_damaged(e, "uses compression method " + std::to_string(method));
  }
}

TEST(ZipLayout, AnEntryAtAnotherOffsetThanInTheDirectoryIsRefused) {
  const auto at = [](uint32_t offset) {
    const Entry e;
    const auto directory = e.central(offset);
    return e.local() + directory + end_record(1, directory.size(), e.local().size(), {});
  };
  expect_content(at(0));
  expect_damaged(at(1), "points outside the file");
  expect_damaged(at(static_cast<uint32_t>(at(0).size() - 29)), "points outside the file");
  expect_damaged(at(0xfffffffe), "points outside the file");
}

// --- deflated entries ---------------------------------------------------------------------------

/// "hello" as a stored block of deflate (RFC 1951, 3.2.4): last block, length, its complement.
const std::string kHello = std::string("\x01\x05\x00\xfa\xff", 5) + "hello";

Entry deflated(uint32_t size, const std::string& content = kHello) {
  auto e = entry("a", content);
  e.method = e.local_method = 8;
  e.size = e.local_size = size;
  return e;
}

TEST(ZipLayout, DeflatedEntryIsInflatedOnceAndPadded) {
  const auto file = archive({deflated(5), entry("b", std::string(200, 'x'))});
  const ZipArchive z(file);
  const auto content = z.read(0);
  EXPECT_EQ(content, "hello");
  EXPECT_EQ(std::string(content.data() + 5, 64), std::string(64, '\0'));
  EXPECT_EQ(z.read(0).data(), content.data());
  EXPECT_FALSE(z.entries()[0].stored);
  EXPECT_TRUE(z.entries()[1].stored);
}

TEST(ZipLayout, EntryThatInflatesToAnotherSizeIsRefused) {
  const auto read = [](const Entry& e) {
    const auto file = archive({e, entry("b", std::string(200, 'x'))});
    const ZipArchive z(file);
    z.read(0);
  };
  for (const uint32_t size : {0u, 4u, 6u, 100u})
    expect_error(ErrorKind::kModel, {"'a' does not inflate to its declared size"},
                 [&] { read(deflated(size)); });
  auto endless = kHello;
  endless[0] = 0;  // not the last block
  for (const auto& content : {endless, kHello.substr(0, 7), std::string("\x07")})
    expect_error(ErrorKind::kModel, {"does not inflate"}, [&] { read(deflated(5, content)); });
}

TEST(ZipLayout, DeflateMakesAtMost1032BytesOfOne) {
  const auto most = archive({deflated(10 * 1032 + 1031)});
  EXPECT_EQ(ZipArchive(most).entries().size(), 1u);
  expect_damaged(deflated(11 * 1032), "claims to inflate from 10 to 11352 bytes");
}

/// The limit is 256 MiB for all entries together. It is checked before anything is inflated.
TEST(ZipLayout, InflatedEntriesHaveALimit) {
  constexpr uint32_t kMost = 256u << 20;
  const auto large = [](const std::string& name, uint32_t size) {
    auto e = entry(name, kHello + std::string(size / 1032, '\0'));
    e.method = e.local_method = 8;
    e.size = e.local_size = size;
    return e;
  };
  const auto file = archive({deflated(5), large("b", kMost - 4), large("c", kMost + 1)});
  const ZipArchive z(file);
  const auto refused = [&](size_t index, const std::string& words) {
    expect_error(ErrorKind::kModel, {words + "; tmeter accepts 256 MiB"}, [&] { z.read(index); });
  };
  refused(2, "entry 'c' inflates to 268435457 bytes");
  EXPECT_EQ(z.read(0), "hello");
  refused(1, "entry 'b' inflates to 268435452 bytes, those before it to 5");
  EXPECT_EQ(z.read(0), "hello");  // an entry counts once
  expect_error(ErrorKind::kModel, {"does not inflate"}, [&] {
    const auto other = archive({large("d", kMost)});
    ZipArchive(other).read(0);
  });
}

TEST(ZipLayout, StoredEntryOfTwoSizesIsRefused) {
  Entry e;
  e.compressed = e.local_compressed = 9;
  expect_damaged(e, "has contradictory sizes");
}

TEST(ZipLayout, AMissingEntryCannotBeRead) {
  const auto file = archive({Entry{}});
  const ZipArchive z(file);
  EXPECT_THROW(z.read(1), std::out_of_range);
}

// --- the directory ------------------------------------------------------------------------------

TEST(ZipLayout, EmptyArchive) {
  const auto file = archive({});
  EXPECT_TRUE(ZipArchive(file).entries().empty());
  expect_damaged(file.substr(0, 21), "too short");
  EXPECT_FALSE(ZipArchive::looks_like_zip(file));
  // Its end record is the first in the file, however long its comment.
  EXPECT_TRUE(ZipArchive(end_record(0, 0, 0, "a comment")).entries().empty());
}

TEST(ZipLayout, ArchivesBeginWithALocalHeader) {
  EXPECT_TRUE(ZipArchive::looks_like_zip("PK\x03\x04"));
  for (const auto* other : {"", "PK\x03", "PK\x01\x02", "QK\x03\x04"})
    EXPECT_FALSE(ZipArchive::looks_like_zip(other)) << other;
}

TEST(ZipLayout, CommentAfterTheDirectory) {
  expect_content(archive({Entry{}}, "hello"));
  expect_content(archive({Entry{}}, std::string(65535, 'x')));
  // The search for the end record stops there: no comment can be longer.
  expect_damaged(archive({Entry{}}) + std::string(65536, 'x'), "end record");
}

TEST(ZipLayout, DirectoryMustBeInsideTheFileAndHoldItsEntries) {
  const Entry e;
  const auto local = e.local(), directory = e.central(0);
  const auto with = [&](uint64_t count, uint64_t size, uint64_t offset) {
    return local + directory + end_record(count, size, offset, {});
  };
  const auto size = directory.size(), offset = local.size();
  expect_content(with(1, size, offset));
  expect_damaged(with(2, size, offset), "claims more entries than it can hold");
  expect_damaged(with(1, size, offset + 100), "directory is beyond its end record");
  expect_damaged(with(1, size, offset - 1), "an entry of its directory is broken");
  expect_damaged(with(1, size - 1, offset), "directory is cut off");
  expect_damaged(with(1, 45, offset), "claims more entries");
}

TEST(ZipLayout, DirectoryEndsBeforeItsEndRecord) {
  // The last byte of the last comment coincides with the first of the end record.
  auto comment = Entry{}.central(0);
  comment[32] = 1;
  const auto local = Entry{}.local();
  expect_damaged(local + comment + end_record(1, comment.size() + 1, local.size(), {}),
                 "directory is beyond its end record");
}

TEST(ZipLayout, NameOfADirectoryEntryMustFit) {
  const Entry e;
  auto directory = e.central(0);
  directory[28] = 2;  // the length of the name
  const auto file = e.local() + directory;
  expect_damaged(file + end_record(1, directory.size(), e.local().size(), {}), "cut off");
  auto comment = e.central(0);
  comment[32] = 1;  // the length of the comment
  expect_damaged(e.local() + comment + end_record(1, comment.size(), e.local().size(), {}),
                 "cut off");
}

// --- ZIP64 --------------------------------------------------------------------------------------

std::string end64(uint64_t count, uint64_t size, uint64_t offset) {
  return number(0x06064b50, 4) + number(44, 8) + number(0, 12) + number(count, 8) +
         number(count, 8) + number(size, 8) + number(offset, 8);
}
std::string locator(uint64_t end64_offset) {
  return number(0x07064b50, 4) + number(0, 4) + number(end64_offset, 8) + number(1, 4);
}

TEST(ZipLayout, Zip64EndRecordCounts) {
  const Entry e;
  const auto body = e.local() + e.central(0);
  const auto record = end64(1, e.central(0).size(), e.local().size());
  const auto useless = end_record(0xffff, kIn64, kIn64, {});
  expect_content(body + record + locator(body.size()) + useless);
  expect_damaged(body + record + locator(body.size() + 1) + useless, "ZIP64 end record is missing");
  expect_damaged(body + record + locator(~uint64_t{0}) + useless, "beyond the end");
  // A locator with another signature is ignored.
  auto broken = locator(body.size());
  broken[0] = 'Q';
  expect_damaged(body + record + broken + useless, "directory is beyond its end record");
}

TEST(ZipLayout, ExactlyAsMuchAsALocatorBeforeTheEndRecord) {
  expect_damaged(locator(0) + end_record(0, 0, 0, {}), "ZIP64 end record is missing");
}

/// The sizes and the offset that the header delegates to this field, in the order of APPNOTE.TXT.
std::string field64(const std::vector<uint64_t>& values) {
  std::string out;
  for (const auto v : values) out += number(v, 8);
  return number(1, 2) + number(out.size(), 2) + out;
}

TEST(ZipLayout, Zip64FieldOfAnEntry) {
  Entry all;
  all.size = all.compressed = kIn64;
  all.extra = field64({10, 10, 0});
  const auto directory = all.central(kIn64);
  expect_content(all.local() + directory + end_record(1, directory.size(), all.local().size(), {}));
  Entry sizes;
  sizes.size = sizes.compressed = kIn64;
  sizes.extra = number(7, 2) + number(3, 2) + "abc" + field64({10, 10});  // after another field
  expect_content(sizes);
  Entry one;
  one.compressed = kIn64;
  one.extra = field64({10});
  expect_content(one);
}

TEST(ZipLayout, Zip64FieldThatIsTooShortIsNotReadBeyond) {
  Entry e;
  e.size = e.compressed = kIn64;
  for (const auto& extra :
       {field64({10}), field64({}), number(1, 2) + number(16, 2) + number(10, 8), number(1, 2),
        number(1, 2) + number(17, 2) + number(10, 8) + number(10, 8)}) {
    e.extra = extra;
    expect_damaged(e, "claims 4294967295 bytes");  // the compressed size is not replaced
  }
}

}  // namespace
}  // namespace tmeter
