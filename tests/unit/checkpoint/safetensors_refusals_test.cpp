// Safetensors headers with one fault each, and the message about it. The same headers are refused
// by the reference implementation (safetensors/src/tensor.rs, `Metadata::validate`).
#include <gtest/gtest.h>
#include <tmeter/abi/dtype.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "../safetensors/header.hpp"

namespace safetensors {
namespace {

std::string length(uint64_t value) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}
std::string file(const std::string& header, size_t data) {
  return length(header.size()) + header + std::string(data, '\0');
}

std::string complaint(std::string_view bytes) {
  try {
    const Header header{bytes};
  } catch (const loading::BadFile& e) {
    return e.what();
  }
  return "accepted";
}

void expect_complaint(std::string_view bytes, const std::string& words) {
  EXPECT_NE(complaint(bytes).find(words), std::string::npos) << complaint(bytes);
}

/// One tensor "t" and this many bytes of data after the header.
std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets,
                   size_t data) {
  return file(R"({"t":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
                  offsets + "}}",
              data);
}

TEST(SafetensorsRefusals, LengthOfTheHeader) {
  expect_complaint("", "it has 0 bytes, less than the length of a header");
  expect_complaint(length(0).substr(1), "it has 7 bytes");
  expect_complaint(length(3) + "{}", "a header of 3 bytes; the file has 2 after it");
  expect_complaint(length(uint64_t{1} << 63) + "{}", "the file has 2 after it");
  expect_complaint(length(0), "does not begin with '{'");
  expect_complaint(file("[]", 0), "does not begin with '{'");
  EXPECT_EQ(complaint(file("{}", 0)), "accepted");
}

/// A file of zeros apart from the length of its header and the header's first byte. Untouched
/// memory costs nothing.
class LargeFile {
 public:
  LargeFile(size_t header, char first)
      : size_(8 + header), bytes_(static_cast<char*>(std::calloc(size_, 1)), std::free) {
    std::memcpy(bytes_.get(), length(header).data(), 8);
    bytes_.get()[8] = first;
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<char, decltype(&std::free)> bytes_;
};

TEST(SafetensorsRefusals, HeaderOfMoreThan100Megabytes) {
  const LargeFile most(100'000'000, ' '), more(100'000'001, ' ');
  expect_complaint(most.view(), "does not begin with '{'");
  expect_complaint(more.view(), "at most 100 MB are accepted");
  EXPECT_TRUE(Header::plausible(LargeFile(100'000'000, '{').view()));
  EXPECT_FALSE(Header::plausible(LargeFile(100'000'001, '{').view()));
}

TEST(SafetensorsRefusals, OtherFilesAreNotPlausible) {
  EXPECT_TRUE(Header::plausible(file("{}", 0)));
  EXPECT_TRUE(Header::plausible(file("{", 0)));  // plausible, so that it is refused with a reason
  EXPECT_FALSE(Header::plausible(file("[]", 0)));
  EXPECT_FALSE(Header::plausible(length(0)));
  EXPECT_FALSE(Header::plausible(""));
  EXPECT_FALSE(Header::plausible(length(3) + "{}"));
}

TEST(SafetensorsRefusals, TypesAndShapes) {
  EXPECT_EQ(complaint(tensor("F32", "[2]", "[0,8]", 8)), "accepted");
  expect_complaint(tensor("F99", "[2]", "[0,8]", 8), "unknown element type");
  expect_complaint(tensor("F32", "[-2]", "[0,8]", 8), "negative -2");
  expect_complaint(tensor("F32", "[4611686018427387904,4]", "[0,8]", 8), "more elements than any");
  expect_complaint(tensor("F32", "[3]", "[0,8]", 8), "needs 12 bytes, its data_offsets hold 8");
  expect_complaint(tensor("F32", "[2]", "[0,16]", 16), "needs 8 bytes, its data_offsets hold 16");
  expect_complaint(tensor("F4", "[3]", "[0,1]", 1), "its shape needs 1 bytes");
}

TEST(SafetensorsRefusals, Offsets) {
  expect_complaint(tensor("U8", "[2]", "[0]", 2), "does not have two numbers");
  expect_complaint(tensor("U8", "[2]", "[0,1,2]", 2), "does not have two numbers");
  expect_complaint(tensor("U8", "[2]", "[2,0]", 2), "bytes 2 to 0 are not in the file");
  expect_complaint(tensor("U8", "[3]", "[0,3]", 2), "which has 2 after its header");
  expect_complaint(tensor("U8", "[2]", "[-1,1]", 2), "negative");
  expect_complaint(tensor("U8", "[0]", "[9223372036854775807,9223372036854775807]", 0),
                   "are not in the file");
}

std::string two(const std::string& first, const std::string& second, size_t data) {
  return file(
      R"({"a":{"dtype":"U8","shape":)" + first + R"(},"b":{"dtype":"U8","shape":)" + second + "}}",
      data);
}

TEST(SafetensorsRefusals, EachByteBelongsToOneTensor) {
  const std::string a = R"([2],"data_offsets":[0,2])";
  EXPECT_EQ(complaint(two(a, R"([2],"data_offsets":[2,4])", 4)), "accepted");
  EXPECT_EQ(complaint(two(R"([2],"data_offsets":[2,4])", a, 4)), "accepted");
  expect_complaint(two(a, R"([2],"data_offsets":[1,3])", 3), "overlaps another one");
  expect_complaint(two(R"([2],"data_offsets":[1,3])", a, 3), "overlaps another one");
  expect_complaint(two(a, R"([3],"data_offsets":[2,4])", 4), "its data_offsets hold 2");
  expect_complaint(two(a, R"([2],"data_offsets":[5,7])", 7), "begins after a gap of 3 bytes");
  expect_complaint(two(R"([2],"data_offsets":[1,3])", R"([1],"data_offsets":[3,4])", 4),
                   "begins after a gap of 1 bytes");
  expect_complaint(two(a, R"([2],"data_offsets":[2,4])", 9), "5 bytes after the last tensor");
  expect_complaint(two(a, R"([2],"data_offsets":[2,4])", 5004), "5000 bytes after the last tensor");
}

TEST(SafetensorsRefusals, Metadata) {
  EXPECT_NE(complaint(file(R"({"__metadata__":{"format":1}})", 0)), "accepted");
  EXPECT_NE(complaint(file(R"({"__metadata__":{"format":NaN}})", 0)), "accepted");
  EXPECT_NE(complaint(file(R"({"__metadata__":[]})", 0)), "accepted");
  const auto other = file(R"({"__metadata__":{"format":"pt","made":"by me"}})", 0);
  EXPECT_EQ(Header(other).format(), "pt");
  const auto without = file(R"({"__metadata__":{"made":"by me"}})", 0);
  EXPECT_EQ(Header(without).format(), "");
}

TEST(SafetensorsRefusals, ComplaintsNameTheTensor) {
  expect_complaint(tensor("F99", "[2]", "[0,8]", 8), "tensor 't'");
}

TEST(SafetensorsHeaderPlaces, AreOffsetsInTheFile) {
  const auto bytes = two(R"([2],"data_offsets":[2,4])", R"([2,1],"data_offsets":[0,2])", 4);
  const Header h(bytes);
  const auto data = static_cast<int64_t>(bytes.size()) - 4;
  EXPECT_EQ(h.tensors()[0].begin, data + 2);
  EXPECT_EQ(h.tensors()[0].end, data + 4);
  EXPECT_EQ(h.tensors()[1].begin, data);
  EXPECT_EQ(h.tensors()[1].dims, (std::vector<int64_t>{2, 1}));
}

// torch pairs them along the last dim, which the pushed tensor has (cli.checkpoints,
// cli.checkpoint_bad_input).
TEST(SafetensorsHeaderPlaces, FourBitFloatsHaveTheSizesOfTheFile) {
  for (const auto* shape : {"[2,3]", "[3,2]"}) {
    const auto bytes = tensor("F4", shape, "[0,3]", 3);
    EXPECT_EQ(Header(bytes).tensors()[0].element, "F4");
    EXPECT_EQ(Header(bytes).tensors()[0].dims.size(), 2u);
  }
}

}  // namespace
}  // namespace safetensors
