#include <gtest/gtest.h>

#include <set>
#include <tmeter/cpp/op_class.hpp>

namespace {

using tmeter::op_class;
using tmeter::OpClass;

TEST(OpClass, AllFormsOfAnOperatorShareItsClass) {
  for (const auto op :
       {"aten::relu", "aten::relu_", "aten::relu.out", "aten::_foreach_relu", "quantized::relu6"})
    EXPECT_EQ(op_class(op), OpClass::kActivation) << op;
  EXPECT_EQ(op_class("aten::conv2d.padding"), OpClass::kConvolution);
  EXPECT_EQ(op_class("quantized::conv2d_relu"), OpClass::kConvolution);
  EXPECT_EQ(op_class("torchvision::nms"), OpClass::kSort);
  EXPECT_EQ(op_class("prims::add"), OpClass::kElementwise);
}

TEST(OpClass, DoubleUnderscoreNamesAreNotInPlaceForms) {
  EXPECT_EQ(op_class("aten::__and__"), OpClass::kElementwise);
}

TEST(OpClass, ViewsMadeRealAreCopies) {
  EXPECT_EQ(op_class("aten::view"), OpClass::kView);
  EXPECT_EQ(op_class("aten::view_copy"), OpClass::kCopy);
  EXPECT_EQ(op_class("aten::copy_"), OpClass::kCopy);
}

TEST(OpClass, StrangersAndUnknownNamesAreOther) {
  for (const auto op :
       {"acme::relu", "aten::linalg_svd", "aten::no_such_thing", "", "::", "aten::", "_"})
    EXPECT_EQ(op_class(op), OpClass::kOther) << op;
}

TEST(OpClass, SizesArithmeticIsControl) {
  for (const auto op : {"_operator::mul", "prim::TupleUnpack", "aten::sym_size", "math::ceil"})
    EXPECT_EQ(op_class(op), OpClass::kControl) << op;
}

TEST(OpClass, NoNameIsListedTwice) {
  std::set<std::string_view> seen;
  for (const auto slot : tmeter::detail::kOpClassIndex)
    EXPECT_TRUE(seen.insert(slot.name()).second) << slot.name();
}

TEST(OpClass, EveryClassHasAName) {
  EXPECT_EQ(name_of(OpClass::kConvolution), "convolution");
  EXPECT_EQ(name_of(OpClass::kOther), "other");
  EXPECT_EQ(name_of(static_cast<OpClass>(200)), "other");
}

}  // namespace
