// The functions of a call when memory runs out.
#include "core/plugin_host/call.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>

#include "core/plugin_host/interfaces.hpp"
#include "tests/support/in_child.hpp"

namespace tmeter {
namespace {

constexpr size_t kGiB = size_t{1} << 30;

/// While it exists, the process can allocate only a few MiB more.
class LittleMemory {
 public:
  LittleMemory() {
    getrlimit(RLIMIT_DATA, &before_);
    auto little = before_;
    little.rlim_cur = kGiB / 2;
    set_ = setrlimit(RLIMIT_DATA, &little) == 0;
  }
  ~LittleMemory() { setrlimit(RLIMIT_DATA, &before_); }
  bool is_set() const { return set_; }

 private:
  rlimit before_{};
  bool set_ = false;
};

TEST(Call, ScratchMemoryIsZeroed) {
  tmeter_call call;
  const core::FrameScope inside(call);
  const auto* bytes = static_cast<const char*>(core::call_interface()->scratch(&call, 1000));
  ASSERT_NE(bytes, nullptr);
  EXPECT_TRUE(std::all_of(bytes, bytes + 1000, [](char c) { return c == 0; }));
}

TEST(Call, AFailedAllocationIsReportedAsOutOfMemory) {
  tmeter_call call;
  const core::FrameScope inside(call);
  const auto status =
      core::guard_callback(&call, []() -> tmeter_status { throw std::bad_alloc(); });
  EXPECT_EQ(status, TMETER_INTERNAL);
  EXPECT_EQ(call.frame.error, "out of memory");
}

TEST(Call, AbsurdScratchMemoryIsNull) {
  tmeter_call call;
  const core::FrameScope inside(call);
  EXPECT_EQ(core::call_interface()->scratch(&call, kGiB + 1), nullptr);
}

TEST(Call, UnavailableScratchMemoryIsNull) {
  if (!testing::kMemoryIsLimited) GTEST_SKIP();
  tmeter_call call;
  const core::FrameScope inside(call);
  const LittleMemory little;
  ASSERT_TRUE(little.is_set());
  EXPECT_EQ(core::call_interface()->scratch(&call, kGiB), nullptr);
  EXPECT_NE(core::call_interface()->scratch(&call, 1000), nullptr);
}

TEST(Call, ACallOutsideOfACallbackHasNoEffectAndIsRecorded) {
  tmeter_call call;
  EXPECT_EQ(core::call_interface()->scratch(&call, 8), nullptr);
  core::call_interface()->fail(&call, {"late", 4});
  EXPECT_EQ(call.frame.error, "");
  EXPECT_THROW(core::invoke(call, "later", [](tmeter_call*) -> tmeter_status { return TMETER_OK; }),
               core::PluginError);
}

TEST(Call, ACallOnAnotherThreadHasNoEffect) {
  tmeter_call call;
  const core::FrameScope inside(call);
  std::thread([&] { core::call_interface()->fail(&call, {"elsewhere", 9}); }).join();
  EXPECT_EQ(call.frame.error, "");
  EXPECT_TRUE(call.misused);
}

}  // namespace
}  // namespace tmeter
