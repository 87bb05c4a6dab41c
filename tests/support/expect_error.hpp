// EXPECT_ERROR for core::Error: its kind, and words its message must contain.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace tmeter::testing {

inline void expect_error(core::ErrorKind kind, const std::vector<std::string>& words,
                         const std::function<void()>& f) {
  try {
    f();
    ADD_FAILURE() << "did not throw";
  } catch (const core::Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(kind)) << e.what();
    for (const auto& word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

}  // namespace tmeter::testing
