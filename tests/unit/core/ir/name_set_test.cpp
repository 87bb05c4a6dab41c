// Names that have been there: against std::set.
#include "core/ir/name_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace tmeter::core {
namespace {

TEST(NameSet, TakesEachNameOnce) {
  NameSet set;
  EXPECT_TRUE(set.insert("a"));
  EXPECT_FALSE(set.insert(std::string("a").c_str()));
  EXPECT_TRUE(set.insert(""));
  EXPECT_FALSE(set.insert(std::string_view()));
  EXPECT_TRUE(set.insert("ab"));
}

TEST(NameSet, AgreesWithASetOnAnyNames) {
  std::mt19937 random(3);
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) names.push_back("n" + std::to_string(random() % 15'000));
  NameSet set;
  std::set<std::string> expected;
  for (const auto& name : names) ASSERT_EQ(set.insert(name), expected.insert(name).second) << name;
}

}  // namespace
}  // namespace tmeter::core
