// Pickles written by hand, opcode by opcode, for tests of the unpickler.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace checkpoint::testing {

inline std::string little(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}
inline std::string proto(int version = 2) {
  return std::string("\x80") + static_cast<char>(version);
}
inline std::string text(std::string_view s) { return "X" + little(s.size(), 4) + std::string(s); }
inline std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string put(uint64_t index) { return "r" + little(index, 4); }
inline std::string get(uint64_t index) { return "j" + little(index, 4); }

}  // namespace checkpoint::testing
