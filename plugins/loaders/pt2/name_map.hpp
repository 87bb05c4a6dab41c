// NameMap: names from the file → values, as a flat hash table. Files have tens of thousands of
// names, and a table without a node per entry is what keeps reading them cheap.
//
// Keys are views and must outlive the map. Entries keep the order they were added in; a pointer to
// a value is good until the next insertion.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace pt2 {

/// Of words of eight bytes, multiplied: a few instructions for the names there are.
inline size_t hash_of(std::string_view text) {
  constexpr uint64_t kFirst = 0x9E3779B97F4A7C15, kSecond = 0xD6E8FEB86659FD93;
  const auto word = [](const char* at) {
    uint64_t w = 0;
    std::memcpy(&w, at, sizeof w);
    return w;
  };
  const auto mixed = [](uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const auto product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = left * kFirst;
  for (; left > 16; at += 16, left -= 16)
    hash = mixed(word(at) ^ kFirst ^ hash, word(at + 8) ^ kSecond);
  uint64_t a = 0, b = 0;
  if (left >= 8) {
    a = word(at);
    b = word(at + left - 8);
  } else {
    std::memcpy(&a, at, left);
  }
  return mixed(a ^ kFirst ^ hash, b ^ kSecond);
}

template <class Value>
class NameMap {
 public:
  struct Entry {
    std::string_view name;
    size_t hash;
    Value value;
  };

  void reserve(size_t names) {
    entries_.reserve(names);
    if (names * 2 > slots_.size()) rebuild(std::bit_ceil(names * 2));
  }

  /// The number of its entry plus one; 0: there is none.
  uint32_t find_entry(std::string_view name) const {
    return entries_.empty() ? 0 : slots_[slot_of(name, hash_of(name))];
  }
  void clear() {
    entries_.clear();
    std::ranges::fill(slots_, 0);
  }

  const Value* find(std::string_view name) const {
    const uint32_t entry = find_entry(name);
    return entry ? &entries_[entry - 1].value : nullptr;
  }
  Value& at(size_t index) { return entries_[index].value; }
  const Value& at(size_t index) const { return entries_[index].value; }
  Value* find(std::string_view name) { return const_cast<Value*>(std::as_const(*this).find(name)); }

  /// The value of the name, made from `value` if it is new, and whether it is.
  std::pair<Value*, bool> insert(std::string_view name, Value value) {
    if ((entries_.size() + 1) * 2 > slots_.size()) rebuild(std::max<size_t>(64, slots_.size() * 2));
    const size_t hash = hash_of(name);
    const size_t slot = slot_of(name, hash);
    if (const uint32_t entry = slots_[slot]) return {&entries_[entry - 1].value, false};
    entries_.push_back({name, hash, std::move(value)});
    slots_[slot] = static_cast<uint32_t>(entries_.size());
    return {&entries_.back().value, true};
  }

  /// The same of a name that `keep` makes last if it is new.
  template <class Keep>
  std::pair<Value*, bool> insert_kept(std::string_view name, Value value, Keep&& keep) {
    const auto inserted = insert(name, std::move(value));
    if (inserted.second) entries_.back().name = keep(name);
    return inserted;
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  /// Where the name is, or the free slot where it belongs: linear probing, at most half full.
  size_t slot_of(std::string_view name, size_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      const uint32_t entry = slots_[slot];
      if (entry == 0) return slot;
      const auto& e = entries_[entry - 1];
      if (e.hash == hash && e.name == name) return slot;
    }
  }
  void rebuild(size_t slots) {
    slots_.assign(slots, 0);
    for (size_t i = 0; i < entries_.size(); ++i) {
      size_t slot = entries_[i].hash & (slots - 1);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots - 1);
      slots_[slot] = static_cast<uint32_t>(i + 1);
    }
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // index of the entry plus one; 0 is free
};

}  // namespace pt2
