// SHA-256 (FIPS 180-4), as `sha256sum` prints it: to compare outputs with another program, and to
// recognise files.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base.hpp"

TMETER_SDK_BEGIN

namespace sha256 {

inline constexpr size_t kBlock = 64;
using State = std::array<uint32_t, 8>;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (§4.2.2).
inline constexpr std::array<uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline uint32_t word_at(const char* p) {
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(p[i])}; };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

/// §6.2.2
inline void take_in(State& state, const char* block) {
  std::array<uint32_t, 64> w{};
  for (size_t t = 0; t < 16; ++t) w[t] = word_at(block + 4 * t);
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t x = w[t - 15], y = w[t - 2];
    const uint32_t s0 = std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3);
    const uint32_t s1 = std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State added{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

/// The rest after the whole blocks, a one bit, zeros and the length in bits (§5.1.1).
inline std::string padded_rest(std::string_view bytes) {
  std::string rest(bytes.substr(bytes.size() / kBlock * kBlock));
  rest += '\x80';
  while (rest.size() % kBlock != kBlock - 8) rest += '\0';
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift);
  return rest;
}

}  // namespace sha256

/// 64 hexadecimal digits in lower case.
inline std::string sha256_hex(std::string_view bytes) {
  sha256::State state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (size_t at = 0; at + sha256::kBlock <= bytes.size(); at += sha256::kBlock)
    sha256::take_in(state, bytes.data() + at);
  const auto rest = sha256::padded_rest(bytes);
  for (size_t at = 0; at < rest.size(); at += sha256::kBlock)
    sha256::take_in(state, rest.data() + at);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) out += kDigits[word >> shift & 15];
  }
  return out;
}

TMETER_SDK_END
