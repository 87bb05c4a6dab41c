// Reads the numbers and strings of a GGUF header. Nothing is read beyond the file or beyond the
// limit of headers.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "../common/bad_file.hpp"

namespace gguf {

using loading::BadFile;

/// Metadata and tensor table. Vocabularies of a million tokens take 30 MB.
inline constexpr size_t kMaxHeaderBytes = size_t{256} << 20;

template <class T>
T byte_swapped(T value) {
  uint8_t bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  std::reverse(bytes, bytes + sizeof(T));
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

class Cursor {
 public:
  explicit Cursor(std::string_view file) : file_(file) {}

  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }
  /// Readable bytes from here on.
  size_t left() const { return std::min(file_.size(), kMaxHeaderBytes) - at_; }
  /// The file is big-endian.
  void swap_bytes() { swapped_ = true; }
  /// Version 1: counts and lengths have 32 bits.
  void use_short_counts() { short_counts_ = true; }
  bool swapped() const { return swapped_; }
  /// Bytes of a count or length.
  size_t count_size() const { return short_counts_ ? 4 : 8; }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof value);
    return swapped_ ? byte_swapped(value) : value;
  }
  uint64_t count() { return short_counts_ ? number<uint32_t>() : number<uint64_t>(); }

  std::string_view text() {
    const auto length = count();
    if (length > left())
      throw BadFile("a string of " + std::to_string(length) + " bytes is claimed; " + the_rest());
    return take(length);
  }
  /// Skips `items` of `size` bytes each.
  void skip(uint64_t items, size_t size) {
    if (items > left() / size)
      throw BadFile(std::to_string(items) + " items are claimed; " + the_rest());
    at_ += items * size;
  }
  /// For messages: "the file has 12 bytes after it".
  std::string the_rest() const {
    if (file_.size() > kMaxHeaderBytes)
      return "metadata and tensor table may take 256 MiB, of which " + std::to_string(left()) +
             " bytes are left";
    return "the file has " + std::to_string(left()) + " bytes after it (truncated?)";
  }

 private:
  std::string_view take(size_t size) {
    if (size > left())
      throw BadFile("byte " + std::to_string(at_) + ": " + std::to_string(size) +
                    " bytes are needed; " + the_rest());
    at_ += size;
    return file_.substr(at_ - size, size);
  }

  std::string_view file_;
  size_t at_ = 0;
  bool swapped_ = false, short_counts_ = false;
};

}  // namespace gguf
