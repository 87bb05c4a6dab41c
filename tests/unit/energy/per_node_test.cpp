// A node's cached value is computed once and never returned for another node.
#include "plugins/common/machine/per_node.hpp"

#include <gtest/gtest.h>

namespace {

struct FakeNode {
  size_t at;
  const void* place;
  size_t index() const { return at; }
  const void* handle() const { return place; }
};

class PerNode : public testing::Test {
 protected:
  int value_of(const FakeNode& node, int work = 0) {
    return kept_.of(node, work, [&] { return ++made_; });
  }

  const char places_[3]{};
  const FakeNode first_{0, &places_[0]}, far_{5, &places_[1]};
  const FakeNode first_of_another_graph_{0, &places_[2]};
  machine::PerNode<int, int> kept_;
  int made_ = 0;
};

TEST_F(PerNode, ComputesOnceForEachNode) {
  EXPECT_EQ(value_of(far_), 1);
  EXPECT_EQ(value_of(first_), 2);
  EXPECT_EQ(value_of(far_), 1);
  EXPECT_EQ(value_of(first_), 2);
}

TEST_F(PerNode, ForgetDropsAllValues) {
  EXPECT_EQ(value_of(first_), 1);
  kept_.forget();
  EXPECT_EQ(value_of(first_), 2);
}

TEST_F(PerNode, ANodeOfAnotherGraphIsAnotherNode) {
  EXPECT_EQ(value_of(first_), 1);
  EXPECT_EQ(value_of(first_of_another_graph_), 2);
}

TEST_F(PerNode, OtherWorkOfANodeIsComputedAgain) {
  EXPECT_EQ(value_of(first_, 5), 1);
  EXPECT_EQ(value_of(first_, 6), 2);
  EXPECT_EQ(value_of(first_, 6), 2);
}

TEST_F(PerNode, OneNodeMayReadAnother) {
  const int value = kept_.of(first_, 0, [&] { return 10 + value_of(far_); });
  EXPECT_EQ(value, 11);
  EXPECT_EQ(value_of(far_), 1);
  EXPECT_EQ(kept_.of(first_, 0, [] { return 0; }), 11);
}

TEST_F(PerNode, AnExceptionStoresNoValue) {
  EXPECT_THROW(kept_.of(first_, 0, []() -> int { throw 7; }), int);
  EXPECT_EQ(value_of(first_), 1);
}

}  // namespace
