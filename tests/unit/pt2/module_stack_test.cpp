#include "module_stack.hpp"

#include <gtest/gtest.h>

namespace pt2 {
namespace {

TEST(Pt2ModuleStack, ReadsKeyPathAndType) {
  const auto s = parse_module_stack(
      "L__self__,,net.Net;L__self__blk@1,blk,torch.nn.modules.container.Sequential;"
      "L__self__blk.0@1,blk.0,torch.nn.modules.linear.Linear");
  ASSERT_TRUE(s);
  ASSERT_EQ(s->size(), 3u);
  EXPECT_EQ((*s)[0].path, "");
  EXPECT_EQ((*s)[0].type, "net.Net");
  EXPECT_EQ((*s)[1].key, "L__self__blk@1");
  EXPECT_EQ((*s)[2].path, "blk.0");
  EXPECT_EQ((*s)[2].type, "torch.nn.modules.linear.Linear");
}

TEST(Pt2ModuleStack, CommasInBracketsDoNotSeparate) {
  const auto s = parse_module_stack("L__s___blk_0,getattr(L['s'].blk, '0'),net.Pair[int, str]");
  ASSERT_TRUE(s);
  EXPECT_EQ((*s)[0].path, "blk.0");
  EXPECT_EQ((*s)[0].type, "net.Pair[int, str]");
}

TEST(Pt2ModuleStack, TranslatesSourceExpressionsOfStrictExport) {
  EXPECT_EQ(module_path("L['self'].fc"), "fc");
  EXPECT_EQ(module_path("L['self']"), "");
  EXPECT_EQ(module_path("getattr(L['self'].blk, '0')"), "blk.0");
  EXPECT_EQ(module_path("getattr(getattr(L['self'].a, '0').b, '1').conv"), "a.0.b.1.conv");
  EXPECT_EQ(module_path("L['self'].layers[0].l"), "layers.0.l");
  EXPECT_EQ(module_path("L['self']._modules['layers']._modules['0']"), "layers.0");
  EXPECT_EQ(module_path("_export_root"), "");
  EXPECT_EQ(module_path("_export_root.l"), "l");
  EXPECT_EQ(module_path("layer1.0.conv1"), "layer1.0.conv1");
  EXPECT_EQ(module_path("_export_rooted"), "_export_rooted");
}

TEST(Pt2ModuleStack, ANodeOutsideEveryModuleHasAnEmptyStack) {
  const auto s = parse_module_stack(
      "_empty_nn_module_stack_from_metadata_hook,_empty_nn_module_stack_from_metadata_hook,"
      "_empty_nn_module_stack_from_metadata_hook");
  ASSERT_TRUE(s);
  EXPECT_TRUE(s->empty());
  EXPECT_TRUE(parse_module_stack("")->empty());
}

TEST(Pt2ModuleStack, RefusesMalformedText) {
  for (const char* text :
       {"a", "a,b", "a,b,c,d", "a,b,c;d", ";", "k,getattr(L['x',T", "k,L[self],T", "k,L['self'].,T",
        "k,getattr(L['s'].a '0'),T", "k,L['s'][x],T"})
    EXPECT_FALSE(parse_module_stack(text)) << text;
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += "getattr(";
  EXPECT_FALSE(module_path(deep));
}

TEST(Pt2ModuleStack, StripsTheNumberOfARepeatedCall) {
  EXPECT_EQ(without_call_number("fc@1"), "fc");
  EXPECT_EQ(without_call_number("a@b"), "a@b");
  EXPECT_EQ(without_call_number("fc@"), "fc@");
}

}  // namespace
}  // namespace pt2
