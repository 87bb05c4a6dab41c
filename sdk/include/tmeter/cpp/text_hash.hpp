// Hashes of untrusted strings: names of operators, modules, tensors. std::hash has a fixed
// seed, so a file can have a million names of one hash, and every table of them takes quadratic
// time. This hash differs between processes. Output must therefore not follow the order of a
// hash table.
//
//   std::unordered_map<std::string, size_t, tmeter::TextHash> index;
#pragma once
#include <sys/auxv.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base.hpp"

TMETER_SDK_BEGIN

/// Folds one half of a 128-bit product of eight-byte words onto the other.
struct TextHash {
  // noexcept is omitted so that the standard library stores the hash beside each key.
  size_t operator()(std::string_view text) const {
    static const auto secret = read_secret();
    const char* at = text.data();
    size_t left = text.size();
    uint64_t hash = left ^ secret[1];
    for (; left > 16; at += 16, left -= 16)
      hash = folded(word(at) ^ secret[0] ^ hash, word(at + 8) ^ secret[1]);
    uint64_t a = 0, b = 0;
    if (left >= 8) {
      a = word(at);
      b = word(at + left - 8);
    } else if (left > 0) {  // an empty text may have no address
      std::memcpy(&a, at, left);
    }
    return folded(a ^ secret[0] ^ hash, b ^ secret[1]);
  }

 private:
  /// The secret of this process, from the kernel's random bytes.
  static std::array<uint64_t, 2> read_secret() {
    std::array<uint64_t, 2> secret{0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93};
    if (const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM)))
      std::memcpy(secret.data(), random, sizeof secret);
    return secret;
  }
  static uint64_t word(const char* at) {
    uint64_t w = 0;
    std::memcpy(&w, at, sizeof w);
    return w;
  }
  static uint64_t folded(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const auto product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
};

TMETER_SDK_END
