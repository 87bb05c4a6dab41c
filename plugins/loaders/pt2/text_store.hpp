// Texts that must outlive what they were read from.
#pragma once
#include <cstring>
#include <memory_resource>
#include <string_view>

namespace pt2 {

class TextStore {
 public:
  /// A copy, as long as the store lives.
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    auto* copy = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace pt2
