// Copies of the strings in a plugin's tables. Checked strings must not change afterwards, and a
// plugin may build each text in the same buffer.
#pragma once
#include <tmeter/abi/base.h>

#include <cstring>
#include <initializer_list>
#include <memory_resource>
#include <span>

#include "core/plugin_host/plugin_limits.hpp"

namespace tmeter::core {

class TextStore {
 public:
  /// Replaces each text by a copy that lives as long as this object. A text beyond `most` bytes is
  /// not copied: check_capabilities refuses it.
  void keep(std::initializer_list<tmeter_str*> texts, size_t most = plugin_limits::kTextBytes) {
    for (auto* text : texts) {
      if (!text->ptr || text->len > most) continue;
      auto* copy = static_cast<char*>(memory_.allocate(text->len + 1, 1));
      std::memcpy(copy, text->ptr, text->len);
      copy[text->len] = '\0';
      text->ptr = copy;
    }
  }
  template <class T>
  std::span<T> keep(std::span<const T> items) {
    auto* copy = static_cast<T*>(memory_.allocate(items.size_bytes(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace tmeter::core
