// GGUF headers with one fault each, and the message about it; valid versions, byte orders and
// names.
#include "plugins/loaders/gguf/header.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace gguf {
namespace {

/// Writes valid and damaged headers.
struct Writer {
  uint32_t version = 3;
  bool big_endian = false;
  std::string bytes;

  template <class T>
  Writer& number(T value) {
    std::string raw(reinterpret_cast<const char*>(&value), sizeof value);
    if (big_endian) std::reverse(raw.begin(), raw.end());
    bytes += raw;
    return *this;
  }
  Writer& count(uint64_t n) { return version == 1 ? number(static_cast<uint32_t>(n)) : number(n); }
  Writer& text(const std::string& s) {
    count(s.size());
    bytes += s;
    return *this;
  }
  Writer& begin(uint64_t tensors, uint64_t pairs) {
    bytes = "GGUF";
    return number(version).count(tensors).count(pairs);
  }
  Writer& tensor(const std::string& name, const std::vector<uint64_t>& dims, int32_t type,
                 uint64_t offset) {
    text(name).number(static_cast<uint32_t>(dims.size()));
    for (const auto d : dims) count(d);
    return number(type).number(offset);
  }
  Writer& data(size_t size, size_t alignment = 32) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment + size);
    return *this;
  }
};

std::string complaint(const Writer& w) {
  try {
    const Header header{w.bytes};
  } catch (const BadFile& e) {
    return e.what();
  }
  return "accepted";
}
void expect_complaint(const Writer& w, const std::string& words) {
  EXPECT_NE(complaint(w).find(words), std::string::npos) << complaint(w);
}

constexpr int32_t kF32 = 0, kQ8_0 = 8, kQ4K = 12, kU32 = 4, kText = 8, kArray = 9;

Writer one(const std::vector<uint64_t>& dims, int32_t type, uint64_t offset, size_t data) {
  Writer w;
  w.begin(1, 0).tensor("t", dims, type, offset).data(data);
  return w;
}

TEST(GgufHeader, EveryVersionAndByteOrderIsReadAlike) {
  for (const uint32_t version : {1u, 2u, 3u})
    for (const bool big_endian : {false, true}) {
      Writer w{version, big_endian, {}};
      w.begin(2, 2).text("general.architecture").number(kText).text("llama");
      w.text("a.sizes")
          .number(kArray)
          .number(kU32)
          .count(2)
          .number(uint32_t{7})
          .number(uint32_t{9});
      w.tensor("a.weight", {64, 3}, kQ8_0, 0).tensor("b", {}, kF32, 224).data(224 + 4);
      const Header h(w.bytes);
      EXPECT_EQ(h.version(), version);
      EXPECT_EQ(h.big_endian(), big_endian);
      EXPECT_EQ(h.metadata().find_text("general.architecture"), "llama");
      const auto* sizes = h.metadata().find("a.sizes");
      ASSERT_NE(sizes, nullptr);
      EXPECT_EQ(sizes->length, 2u);
      EXPECT_EQ(h.metadata().items(*sizes, 10)[1], Scalar(int64_t{9}));
      ASSERT_EQ(h.tensors().size(), 2u);
      EXPECT_EQ(h.tensors()[0].dims, (std::vector<int64_t>{3, 64}));  // as PyTorch: rows first
      EXPECT_EQ(h.tensors()[0].bytes, 3 * 2 * 34);
      EXPECT_EQ(h.tensors()[0].encoding(), "ggml.q8_0");
      EXPECT_EQ(h.tensors()[1].begin, static_cast<int64_t>(w.bytes.size()) - 4);
    }
}

TEST(GgufHeader, Versions) {
  expect_complaint(Writer{4, false, {}}.begin(0, 0), "the GGUF version 4");
  expect_complaint(Writer{0, false, {}}.begin(0, 0), "the GGUF version 0");
  expect_complaint(Writer{4, true, {}}.begin(0, 0), "the GGUF version 4");
  EXPECT_EQ(complaint(Writer{}.begin(0, 0)), "accepted");
  Writer w;
  w.begin(0, 0);
  for (size_t size = 0; size < w.bytes.size(); ++size)
    EXPECT_NE(complaint({3, false, w.bytes.substr(0, size)}), "accepted") << size;
}

TEST(GgufHeader, CountsBeyondTheFile) {
  expect_complaint(Writer{}.begin(1'000'000'000, 0),
                   "claims 1000000000 tensors; the file has 0 bytes");
  expect_complaint(Writer{}.begin(uint64_t{1} << 63, 0), "claims 9223372036854775808 tensors");
  expect_complaint(Writer{}.begin(0, UINT64_MAX), "claims 18446744073709551615 metadata pairs");
  expect_complaint(Writer{}.begin(0, 1).count(uint64_t{1} << 60).number(uint64_t{0}),
                   "a string of 1152921504606846976 bytes is claimed; the file has 8 bytes");
  expect_complaint(Writer{}.begin(0, 1).text("k").number(kText).count(uint64_t{1} << 60),
                   "key 'k': a string of 1152921504606846976 bytes");
  for (const int32_t items : {0, kU32, kText, kArray, 12})
    for (const uint64_t count : {uint64_t{1} << 61, UINT64_MAX, uint64_t{9}})
      expect_complaint(Writer{}.begin(0, 1).text("k").number(kArray).number(items).count(count),
                       std::to_string(count) + " items");
}

/// The smallest tensor has a count (of its name), rank, type and offset: 8 + 4 + 4 + 8 bytes, the
/// smallest pair a key of one byte, a type and a value of one byte: 8 + 1 + 4 + 1. In version 1 a
/// count has 4 bytes.
TEST(GgufHeader, CountsThatTheFileCannotHold) {
  const auto with = [](uint32_t version, uint64_t tensors, uint64_t pairs, size_t bytes) {
    Writer w{version, false, {}};
    w.begin(tensors, pairs);
    w.bytes += std::string(bytes, '\0');
    return w;
  };
  for (const auto& [version, tensor, pair] :
       {std::array<size_t, 3>{1, 20, 10}, {2, 24, 14}, {3, 24, 14}}) {
    const auto v = static_cast<uint32_t>(version);
    expect_complaint(with(v, 5, 0, 5 * tensor - 1), "claims 5 tensors");
    expect_complaint(with(v, 5, 0, 5 * tensor), "tensor 0 has no name");
    expect_complaint(with(v, 0, 5, 5 * pair - 1), "claims 5 metadata pairs");
    expect_complaint(with(v, 0, 5, 5 * pair), "metadata pair 0 has no key");
  }
}

TEST(GgufHeader, ArraysInArrays) {
  const auto nested = [](int depth) {
    Writer w;
    w.begin(0, 1).text("k").number(kArray);
    for (int i = 1; i < depth; ++i) w.number(kArray).count(1);
    return w.number(kU32).count(1).number(uint32_t{5});
  };
  EXPECT_EQ(complaint(nested(1)), "accepted");
  EXPECT_EQ(complaint(nested(8)), "accepted");
  expect_complaint(nested(10), "nested more than 8 deep");
  expect_complaint(nested(100'000), "nested more than 8 deep");
}

TEST(GgufHeader, Pairs) {
  const auto pair = [](const std::string& key, int32_t type) {
    return Writer{}.begin(0, 1).text(key).number(type).number(uint64_t{0});
  };
  expect_complaint(pair("k", 13), "key 'k': the value has the unknown type 13");
  expect_complaint(pair("k", -1), "unknown type -1");
  expect_complaint(pair("", kU32), "has no key");
  expect_complaint(pair("\xff", kU32), "of UTF-8");
  expect_complaint(pair(std::string(65'536, 'k'), kU32), "65,535 bytes");
  Writer twice;
  twice.begin(0, 2);
  for (int i = 0; i < 2; ++i) twice.text("k").number(kU32).number(uint32_t{1});
  expect_complaint(twice, "the key 'k' occurs twice");
}

TEST(GgufHeader, Alignment) {
  const auto aligned = [](int32_t type, uint32_t alignment, uint64_t offset, size_t data) {
    Writer w;
    w.begin(2, 1).text("general.alignment").number(type).number(alignment);
    return w.tensor("a", {1}, kF32, 0).tensor("b", {1}, kF32, offset).data(data, 256);
  };
  EXPECT_EQ(complaint(aligned(kU32, 256, 256, 260)), "accepted");
  expect_complaint(aligned(kU32, 0, 256, 260), "general.alignment is 0, not a power of two");
  expect_complaint(aligned(kU32, 48, 256, 260), "general.alignment is 48");
  expect_complaint(aligned(5, 256, 256, 260), "general.alignment");
  expect_complaint(aligned(kText, 256, 256, 260), "claimed");
  expect_complaint(aligned(kU32, 256, 32, 260),
                   "its offset 32 is not a multiple of the alignment 256");
  expect_complaint(aligned(kU32, 1u << 31, 1u << 31, 260), "not in the file");
}

TEST(GgufHeader, Shapes) {
  EXPECT_EQ(complaint(one({256, 2}, kQ4K, 0, 288)), "accepted");
  expect_complaint(
      one({100, 2}, kQ4K, 0, 288),
      "tensor 't': its rows of 100 elements are not a multiple of the 256 in a block of ggml.q4_k");
  expect_complaint(one({}, kQ4K, 0, 288), "its rows of 1 elements");
  expect_complaint(one({2, 256}, kQ4K, 0, 288), "its rows of 2 elements");
  expect_complaint(one({1, 1, 1, 1, 1}, kF32, 0, 4), "it has 5 dims");
  expect_complaint(one({uint64_t{1} << 63}, kF32, 0, 4), "its dim 0 is negative");
  expect_complaint(one({uint64_t{1} << 40, uint64_t{1} << 40}, kF32, 0, 4),
                   "more elements than any file");
  expect_complaint(one({uint64_t{1} << 62}, kF32, 0, 4), "more bytes than any file");
  EXPECT_EQ(complaint(one({0, uint64_t{1} << 62, uint64_t{1} << 62}, kF32, 0, 0)), "accepted");
}

TEST(GgufHeader, Names) {
  const auto named = [](const std::string& a, const std::string& b) {
    return Writer{}.begin(2, 0).tensor(a, {1}, kF32, 0).tensor(b, {1}, kF32, 32).data(36);
  };
  EXPECT_EQ(complaint(named("a", std::string(500, 'b'))), "accepted");
  expect_complaint(named("a", "a"), "the tensor 'a' occurs twice");
  expect_complaint(named("a", ""), "tensor 1 has no name");
  expect_complaint(named("a", "\xc3"), "is not UTF-8");
  expect_complaint(named("a", std::string(70'000, 'b')), "70000 bytes");
}

TEST(GgufHeader, EachByteBelongsToOneTensor) {
  const auto two = [](uint64_t first, uint64_t second, size_t data) {
    return Writer{}
        .begin(2, 0)
        .tensor("a", {9}, kF32, first)
        .tensor("b", {1}, kF32, second)
        .data(data);
  };
  EXPECT_EQ(complaint(two(0, 64, 68)), "accepted");
  EXPECT_EQ(complaint(two(32, 0, 68)), "accepted");  // in any order
  expect_complaint(two(0, 32, 68), "tensor 'a': it overlaps 'b'");
  expect_complaint(two(0, 0, 68), "overlaps");
  expect_complaint(two(0, 96, 100), "tensor 'b': it begins after a gap of 32 bytes");
  expect_complaint(two(32, 96, 100), "tensor 'a': it begins after a gap of 32 bytes");
  expect_complaint(two(0, 65, 100), "not a multiple of the alignment");
  expect_complaint(two(0, 64, 67),
                   "tensor 'b': its 4 bytes at offset 64 are not in the file, which has 67");
  expect_complaint(two(0, uint64_t{1} << 62, 67), "");
  expect_complaint(two(0, UINT64_MAX - 31, 67), "leads beyond any file");
  EXPECT_NE(complaint(two(0, uint64_t{1} << 62, 67)), "accepted");
}

TEST(GgufHeader, UnknownTypesEndWhereTheNextTensorBegins) {
  Writer w;
  w.begin(3, 0)
      .tensor("a", {100}, 99, 0)
      .tensor("b", {4}, 31, 96)
      .tensor("c", {7}, -5, 128)
      .data(150);
  const Header h(w.bytes);
  EXPECT_EQ(h.tensors()[0].bytes, 96);
  EXPECT_EQ(h.tensors()[0].encoding(), "ggml.type-99");
  EXPECT_EQ(h.tensors()[1].encoding(), "ggml.q4_0_4_4");
  EXPECT_EQ(h.tensors()[2].bytes, 22);
}

TEST(GgufHeader, OffsetsDecideTheBlocksOfAnAmbiguousId) {
  const auto encodings = [](int32_t type, uint64_t row, uint64_t bytes, size_t end) {
    Writer w;
    w.begin(2, 0)
        .tensor("a", {row, 64}, type, 0)
        .tensor("b", {row, 64}, type, bytes)
        .data(bytes + end);
    const Header h(w.bytes);
    return h.tensors()[0].encoding() + " " + h.tensors()[1].encoding();
  };
  EXPECT_EQ(encodings(42, 256, 64 * 4 * 18, 64 * 4 * 18), "ggml.q2_0 ggml.q2_0");
  EXPECT_EQ(encodings(42, 256, 64 * 2 * 34, 64 * 2 * 34), "prism.q2_0 prism.q2_0");
  EXPECT_EQ(encodings(9, 32, 64 * 36, 64 * 36), "ggml.q8_1 ggml.q8_1");
  EXPECT_EQ(encodings(9, 32, 64 * 40, 64 * 40), "ggml.q8_1_f32 ggml.q8_1_f32");
  EXPECT_EQ(encodings(9, 32, 64 * 36, 9999), "ggml.q8_1 ggml.q8_1");  // other bytes follow
  EXPECT_THROW(encodings(9, 32, 64 * 40, 64 * 36), BadFile);          // they contradict each other
}

TEST(GgufShards, AreNamedFromTheNameOfOneShard) {
  const Split split{1, 3, {}};
  EXPECT_EQ(shard_names("m-00002-of-00003.gguf", split),
            (std::vector<std::string>{"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                                      "m-00003-of-00003.gguf"}));
  EXPECT_THROW(shard_names("m-00001-of-00003.gguf", split), BadFile);
  EXPECT_THROW(shard_names("m.gguf", split), BadFile);
}

}  // namespace
}  // namespace gguf
