// An index of the names in a list: eight bytes per name; the list keeps the texts.
#pragma once
#include <cstdint>
#include <limits>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <vector>

namespace tmeter::core {

/// A table with open addresses, at most half full.
class NameIndex {
 public:
  /// Notes that the name is at `place` of the list; false if another place has it. `at(place)` is
  /// the name there.
  template <class At>
  bool insert(std::string_view name, size_t place, const At& at) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const auto hash = static_cast<uint32_t>(TextHash()(name));
    auto i = hash & (slots_.size() - 1);
    for (; slots_[i].place != kNone; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].hash == hash && at(slots_[i].place) == name) return false;
    slots_[i] = {hash, static_cast<uint32_t>(place)};
    ++count_;
    return true;
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  struct Slot {
    uint32_t hash = 0, place = kNone;
  };

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const auto& slot : old) {
      if (slot.place == kNone) continue;
      auto i = slot.hash & (slots_.size() - 1);
      while (slots_[i].place != kNone) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace tmeter::core
