#include <gtest/gtest.h>

#include "node_view.hpp"

namespace pt2 {
namespace {

TEST(Pt2SourceLocation, IsTheLastFrameOutsidePyTorch) {
  EXPECT_EQ(source_location(
                "File \"/opt/x/site-packages/torchvision/models/resnet.py\", line 285, in forward\n"
                "    return self._forward_impl(x)\n"
                "  File \"/opt/x/site-packages/torch/nn/modules/conv.py\", line 565, in forward\n"
                "    return self._conv_forward(input, self.weight, self.bias)"),
            "resnet.py:285");
}

TEST(Pt2SourceLocation, PassesOverGeneratedCode) {
  EXPECT_EQ(source_location("  File \"/home/me/net.py\", line 7, in forward\n    x = f(x)\n"
                            "  File \"<eval_with_key>.5\", line 15, in forward\n    y = g(x)\n"),
            "net.py:7");
}

TEST(Pt2SourceLocation, FallsBackToTheLastFrame) {
  EXPECT_EQ(source_location("File \"/p/site-packages/torch/nn/a.py\", line 3, in f\n    x\n"),
            "a.py:3");
  EXPECT_EQ(source_location(""), "");
  EXPECT_EQ(source_location("no frames here\nnor here"), "");
  EXPECT_EQ(source_location("File \"x.py\", line , in f"), "");
  EXPECT_EQ(source_location("File \"x.py"), "");
}

}  // namespace
}  // namespace pt2
