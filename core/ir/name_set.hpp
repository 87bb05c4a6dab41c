// Which names have been there: a flat table, as a graph of a million operators has a million names
// and a set with a node for each would take most of the time that the names take.
//
// What takes the time is waiting for memory. So a slot has four bytes – a cache holds most of the
// table –, and who knows a name before it is needed has its slot fetched meanwhile.
#pragma once
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text_hash.hpp"

namespace tmeter::core {

class NameSet {
 public:
  /// False when it was there before. The text must outlive the set.
  bool insert(std::string_view name) { return insert(name, hash_of(name)); }
  /// The same with what `expect` gave.
  bool insert(std::string_view name, uint32_t hash) {
    if ((names_.size() + 1) * 4 > slots_.size() * 3) grow();
    auto& slot = slots_[place_of(name, hash)];
    if (slot != 0) return false;
    names_.push_back({name.data(), static_cast<uint32_t>(name.size()), hash});
    slot = slot_of(hash, names_.size());
    return true;
  }
  /// The name will soon be inserted. Inlined in any case: a function that only fetches is taken for
  /// one without effect.
  __attribute__((always_inline)) uint32_t expect(std::string_view name) const {
    const auto hash = hash_of(name);
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)], 1);
    return hash;
  }

 private:
  struct Name {
    const char* text;
    uint32_t size, hash;
    bool is(std::string_view name, uint32_t its_hash) const {
      return hash == its_hash && std::string_view(text, size) == name;
    }
  };
  static constexpr uint32_t kNumber = (uint32_t{1} << 24) - 1;  // far beyond limits.hpp

  static uint32_t hash_of(std::string_view name) {
    return static_cast<uint32_t>(TextHash{}(name));
  }
  /// The first bits of the hash, and the number of the name, from 1 on; 0 is free.
  static uint32_t slot_of(uint32_t hash, size_t number) {
    return (hash & ~kNumber) | static_cast<uint32_t>(number);
  }

  /// Where the name is, or belongs: linear probing.
  size_t place_of(std::string_view name, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const auto slot = slots_[at];
      if (slot == 0) return at;
      if (((slot ^ hash) & ~kNumber) == 0 && names_[(slot & kNumber) - 1].is(name, hash)) return at;
    }
  }
  void grow() {
    if (names_.size() >= kNumber / 2) throw std::length_error("too many names");
    std::vector<uint32_t> slots(slots_.empty() ? 64 : 2 * slots_.size());
    const size_t mask = slots.size() - 1;
    size_t number = 0;
    for (const auto& name : names_) {
      size_t at = name.hash & mask;
      while (slots[at] != 0) at = (at + 1) & mask;
      slots[at] = slot_of(name.hash, ++number);
    }
    slots_ = std::move(slots);
  }

  std::vector<uint32_t> slots_;
  std::deque<Name> names_;
};

}  // namespace tmeter::core
