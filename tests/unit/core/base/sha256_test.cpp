#include "core/base/sha256.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <tmeter/cpp/sha256.hpp>

namespace tmeter::core {
namespace {

// FIPS 180-4 examples (NIST, "Examples with Intermediate Values: SHA256"), and a million times "a"
// (FIPS 180-2, B.3).
TEST(Sha256, AgreesWithThePublishedExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const auto path = ::testing::TempDir() + std::to_string(getpid()) + "sha256_test.bin";
  std::ofstream(path, std::ios::binary) << "abc";
  EXPECT_EQ(sha256_of_file(path), sha256_hex("abc"));
  EXPECT_EQ(sha256_of_file("/nonexistent"), "");
  EXPECT_EQ(sha256_of_file("/dev/null"), "");
}

}  // namespace
}  // namespace tmeter::core
