#include <gtest/gtest.h>

#include "node_view.hpp"

namespace pt2 {
namespace {

TEST(Pt2ModuleStack, ReadsKeyPathAndType) {
  const auto e = parse_stack_entry("L__self__blk.0@1,blk.0,torch.nn.modules.linear.Linear");
  ASSERT_TRUE(e);
  EXPECT_EQ(e->key, "L__self__blk.0@1");
  EXPECT_EQ(e->path, "blk.0");
  EXPECT_EQ(e->type, "torch.nn.modules.linear.Linear");
  EXPECT_EQ(parse_stack_entry("L__self__,,net.Net")->path, "");
}

TEST(Pt2ModuleStack, SplitsOffTheOutermostEntry) {
  const auto s = split_module_stack("a,,A;b,x,B;c,x.y,C");
  EXPECT_EQ(s.entry, "a,,A");
  EXPECT_EQ(s.inner, "b,x,B;c,x.y,C");
  EXPECT_EQ(split_module_stack("a,,A").inner, "");
  EXPECT_EQ(split_module_stack("a,,A").entry, "a,,A");
}

TEST(Pt2ModuleStack, CommasInBracketsDoNotSeparate) {
  const auto e = parse_stack_entry("L__s___blk_0,getattr(L['s'].blk, '0'),net.Pair[int, str]");
  ASSERT_TRUE(e);
  EXPECT_EQ(e->path, "blk.0");
  EXPECT_EQ(e->type, "net.Pair[int, str]");
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

TEST(Pt2ModuleStack, ANodeOutsideEveryModuleIsMarked) {
  const auto e = parse_stack_entry(
      "_empty_nn_module_stack_from_metadata_hook,_empty_nn_module_stack_from_metadata_hook,"
      "_empty_nn_module_stack_from_metadata_hook");
  ASSERT_TRUE(e);
  EXPECT_FALSE(e->is_module);
}

TEST(Pt2ModuleStack, RefusesMalformedText) {
  for (const char* text : {"", "a", "a,b", "a,b,c,d", "k,getattr(L['x',T", "k,L[self],T",
                           "k,L['self'].,T", "k,getattr(L['s'].a '0'),T", "k,L['s'][x],T"})
    EXPECT_FALSE(parse_stack_entry(text)) << text;
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
