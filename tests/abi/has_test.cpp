// The macros by which both sides read structs that grow (abi/base.h).
#include "has.inc"

#include <gtest/gtest.h>

extern "C" int check_has_in_c(void);

TEST(Has, InCpp) { EXPECT_EQ(check_has(), 0) << "the line in has.inc that does not hold"; }
TEST(Has, InC) { EXPECT_EQ(check_has_in_c(), 0) << "the line in has.inc that does not hold"; }
