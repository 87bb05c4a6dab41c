// Which names have been there: a flat table, as a graph of a million operators has a million names
// and a set with a node for each would take most of the time that the names take.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace tmeter::core {

class NameSet {
 public:
  /// False when it was there before. The text must outlive the set.
  bool insert(std::string_view name) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    const auto hash = static_cast<uint32_t>(std::hash<std::string_view>{}(name));
    auto& slot = slots_[place_of(name, hash)];
    if (slot.text) return false;
    slot = {name.empty() ? "" : name.data(), static_cast<uint32_t>(name.size()), hash};
    ++count_;
    return true;
  }

 private:
  struct Slot {
    const char* text = nullptr;  // null: free
    uint32_t size = 0, hash = 0;
  };

  /// Where the name is, or belongs: linear probing.
  size_t place_of(std::string_view name, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const auto& slot = slots_[at];
      if (!slot.text) return at;
      if (slot.hash == hash && std::string_view(slot.text, slot.size) == name) return at;
    }
  }
  void grow() {
    std::vector<Slot> slots(slots_.empty() ? 64 : 2 * slots_.size());
    const size_t mask = slots.size() - 1;
    for (const auto& slot : slots_) {
      if (!slot.text) continue;
      size_t at = slot.hash & mask;
      while (slots[at].text) at = (at + 1) & mask;
      slots[at] = slot;
    }
    slots_ = std::move(slots);
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace tmeter::core
