#include "base64.hpp"

#include <cstdint>
#include <tmeter/cpp/sha256.hpp>

namespace reports {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char digit(uint32_t bits, int shift) { return kDigits[(bits >> shift) & 63]; }

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const auto byte = [&](size_t k) {
      return k < left ? static_cast<uint32_t>(static_cast<uint8_t>(bytes[i + k])) : 0;
    };
    const uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += digit(bits, 18);
    text += digit(bits, 12);
    text += left > 1 ? digit(bits, 6) : '=';
    text += left > 2 ? digit(bits, 0) : '=';
  }
  return text;
}

std::string policy_hash(std::string_view text) {
  const auto hex = tmeter::sha256_hex(text);
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

}  // namespace reports
