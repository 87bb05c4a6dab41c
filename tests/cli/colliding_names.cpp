// Prints names of 16 characters with one hash in libstdc++ (std::hash of strings: MurmurHash64A
// with a fixed seed), for which tables that use it take quadratic time. The first half of a name is
// arbitrary; the second half is solved for. Unprintable names are skipped.
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string_view>

constexpr uint64_t kFactor = 0xc6a4a7935bd1e995, kSeed = 0xc70f6907, kLength = 16;

constexpr uint64_t shifted(uint64_t v) { return v ^ (v >> 47); }  // its own inverse

constexpr uint64_t inverse(uint64_t odd) {
  uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

int main(int, char** arguments) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl";
  constexpr uint64_t kBack = inverse(kFactor), kState = 0x0123456789abcdef * kBack;
  std::mt19937_64 random(27);
  size_t hash = 0;
  for (long left = std::atol(arguments[1]); left > 0;) {
    char name[kLength];
    const auto bits = random();
    for (int i = 0; i < 8; ++i) name[i] = kLetters[bits >> (6 * i) & 63];
    uint64_t half = 0;
    std::memcpy(&half, name, sizeof half);
    const uint64_t state =
        ((kSeed ^ (kLength * kFactor)) ^ (shifted(half * kFactor) * kFactor)) * kFactor;
    half = shifted((kState ^ state) * kBack) * kBack;
    std::memcpy(name + 8, &half, sizeof half);
    bool is_name = true;
    for (int i = 8; i < 16; ++i) {
      const auto c = static_cast<unsigned char>(name[i]);
      is_name = is_name && c < 0x7f &&
                (std::isalnum(c) ||
                 std::string_view("_-/+$@!:~%^*()?[]<>=#").find(name[i]) != std::string_view::npos);
    }
    if (!is_name) continue;
    const auto found = std::hash<std::string_view>{}({name, kLength});
    if (hash == 0) hash = found;
    if (found != hash) return 1;
    std::printf("%.16s\n", name);
    --left;
  }
}
