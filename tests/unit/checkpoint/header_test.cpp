// The header of safetensors files, and the order of their tensors in a report.
#include "plugins/loaders/safetensors/header.hpp"

#include <gtest/gtest.h>
#include <tmeter/abi/dtype.h>

#include <algorithm>
#include <random>
#include <set>
#include <tmeter/cpp/natural_order.hpp>
#include <tmeter/cpp/utf8.hpp>

namespace safetensors {
namespace {

using namespace std::string_literals;

std::string file(std::string_view header, size_t data) {
  std::string out;
  for (size_t i = 0; i < 8; ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + std::string(header) + std::string(data, '\0');
}

std::string complaint(const std::string& bytes) {
  try {
    const Header header{bytes};
  } catch (const loading::BadFile& e) {
    return e.what();
  }
  return "accepted";
}

const auto kGood = file(
    R"({"__metadata__":{"format":"pt"},"a.b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
    R"("c":{"dtype":"F4","shape":[8],"data_offsets":[0,4]}})",
    16);

TEST(SafetensorsHeader, HasTheOffsetsOfEachTensor) {
  const Header h(kGood);
  EXPECT_EQ(h.format(), "pt");
  ASSERT_EQ(h.tensors().size(), 2u);
  const auto& t = h.tensors()[0];
  EXPECT_EQ(t.name, "a.b");
  EXPECT_EQ(t.dtype, TMETER_DTYPE_BFLOAT16);
  EXPECT_EQ(t.element, "");  // torch has the type
  EXPECT_EQ(t.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(t.end, static_cast<int64_t>(kGood.size()));
  EXPECT_EQ(t.end - t.begin, 12);
}

TEST(SafetensorsHeader, FourBitFloatsHaveTheSizesOfTheFile) {
  const Header h(kGood);
  EXPECT_EQ(h.tensors()[1].dtype, TMETER_DTYPE_FLOAT4_E2M1FN_X2);
  EXPECT_EQ(h.tensors()[1].element, "F4");
  EXPECT_EQ(h.tensors()[1].dims, (std::vector<int64_t>{8}));
}

TEST(SafetensorsHeader, TypesThatTorchLacksKeepTheirName) {
  const auto six = file(R"({"a":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}})", 3);
  const Header h(six);
  EXPECT_EQ(h.tensors()[0].dtype, TMETER_DTYPE_UNDEFINED);
  EXPECT_EQ(h.tensors()[0].element, "F6_E2M3");
}

TEST(SafetensorsHeader, EmptyTensorsBetweenOthersDoNotOverlap) {
  EXPECT_EQ(complaint(file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                           R"("b":{"dtype":"F32","shape":[0,9],"data_offsets":[4,4]},)"
                           R"("c":{"dtype":"U8","shape":[],"data_offsets":[4,5]}})",
                           5)),
            "accepted");
}

TEST(SafetensorsHeader, TruncationAtEveryByteIsAClearError) {
  for (size_t size = 0; size < kGood.size(); ++size)
    EXPECT_NE(complaint(kGood.substr(0, size)), "accepted") << size;
}

TEST(SafetensorsHeader, AnyByteAnywhereIsReadOrRefused) {
  for (size_t at = 0; at < kGood.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      auto changed = kGood;
      changed[at] = static_cast<char>(byte);
      EXPECT_FALSE(complaint(changed).empty());
    }
  }
}

TEST(NaturalOrder, LayersAreInNumericOrder) {
  using tmeter::natural_less;
  EXPECT_TRUE(natural_less("layers.2.w", "layers.10.w"));
  EXPECT_FALSE(natural_less("layers.10.w", "layers.2.w"));
  EXPECT_TRUE(natural_less("a", "a.b"));
  EXPECT_TRUE(natural_less("x.bias", "x.weight"));
  EXPECT_FALSE(natural_less("h.1", "h.1"));
  EXPECT_NE(natural_less("h.01", "h.1"), natural_less("h.1", "h.01"));
  EXPECT_TRUE(natural_less("w99999999999999999999", "w100000000000000000000"));
}

/// A tree of modules is made of names in this order, each module once.
TEST(NaturalOrder, NamesWithOneBeginningAreAdjacent) {
  std::vector<std::string> names;
  for (const char* layer : {"h.1", "h.01", "h.001", "h.2", "h", "h.1-a", "h.10", "h1"})
    for (const char* rest : {".a", ".b", ".01", ".1", ".1.a"})
      names.push_back(std::string(layer) + rest);
  std::shuffle(names.begin(), names.end(), std::mt19937(1));
  std::sort(names.begin(), names.end(), tmeter::natural_less);
  std::set<std::string> seen;
  std::string last;
  for (const auto& name : names) {
    for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
      const auto beginning = name.substr(0, dot + 1);
      const bool is_new = last.starts_with(beginning) || seen.insert(beginning).second;
      EXPECT_TRUE(is_new) << beginning;
    }
    last = name;
  }
}

TEST(Utf8, BrokenSequencesAreFound) {
  for (const char* good : {"", "layer.é", "中文", "𝛂"}) EXPECT_TRUE(tmeter::is_utf8(good)) << good;
  for (const auto& bad : {"\xff"s, "\xc3"s, "\xc0\x80"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s,
                          "\xe0\x80\x80"s, "a\x80"s, "\xf0\x8f\xbf\xbf"s, "\xe4\xb8"s})
    EXPECT_FALSE(tmeter::is_utf8(bad));
}

}  // namespace
}  // namespace safetensors
