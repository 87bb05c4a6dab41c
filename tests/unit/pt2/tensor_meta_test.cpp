// Descriptions of tensors without symbols: read as written, or passed on to the reader of symbolic
// ones.
#include "tensor_meta.hpp"

#include <gtest/gtest.h>

namespace pt2 {
namespace {

constexpr std::string_view kMeta =
    R"({"dtype": 7, "sizes": [{"as_int": 4}, {"as_int": 3}], "requires_grad": true, )"
    R"("device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}], )"
    R"("storage_offset": {"as_int": 5}, "layout": 7})";

bool read(const std::string& text, FixedTensorMeta& out) {
  json::parser parser;
  const json::object meta = parser.parse(text);
  return read_fixed(meta, out);
}

TEST(Pt2TensorMeta, ReadsFixedNumbers) {
  FixedTensorMeta meta;
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(read(std::string(kMeta), meta));
    EXPECT_EQ(meta.dtype, 7);
    EXPECT_EQ(meta.sizes, (std::vector<int64_t>{4, 3}));
    EXPECT_EQ(meta.strides, (std::vector<int64_t>{3, 1}));
    EXPECT_EQ(meta.storage_offset, 5);
    EXPECT_TRUE(meta.requires_grad);
  }
}

TEST(Pt2TensorMeta, LeavesTheRestToOthers) {
  std::string many;
  for (int i = 0; i < 65; ++i) many += (i ? ", " : "") + std::string(R"({"as_int": 1})");
  const std::initializer_list<std::pair<std::string, std::string>> changes{
      {R"({"as_int": 4})", R"({"as_expr": {"expr_str": "s0", "hint": {"as_int": 4}}})"},
      {R"({"as_int": 4})", R"({"as_int": 4.5})"},
      {R"({"as_int": 4})", R"({"as_int": 4, "as_bool": true})"},
      {R"({"as_int": 4})", R"({})"},
      {R"({"as_int": 4})", "4"},
      {R"({"as_int": 4})", many},
      {R"({"as_int": 4}, )", ""},
      {R"("dtype": 7)", R"("dtype": 70000)"},
      {R"("dtype": 7)", R"("dtype": -1)"},
      {R"("dtype": 7)", R"("type": 7)"},
      {R"("strides")", R"("steps")"},
      {R"("requires_grad": true)", R"("requires_grad": 1)"},
      {R"({"as_int": 5})", R"({"as_int": "5"})"}};
  for (const auto& [from, to] : changes) {
    std::string text(kMeta);
    text.replace(text.find(from), from.size(), to);
    FixedTensorMeta meta;
    EXPECT_FALSE(read(text, meta)) << text;
  }
}

}  // namespace
}  // namespace pt2
