// NameMap: a flat hash table from names in the file to values.
//
// Keys are views and must outlive the map. Entries keep their order of insertion. A pointer to a
// value is valid until the next insertion.
//
// With a million names every access is a cache miss. So slots hold half of the hash, which mostly
// saves the access to the entry. torch writes all its tables in the same order; `find_next` uses
// that and tries the entry after the previous one without accessing a slot.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <utility>
#include <vector>

namespace pt2 {

inline size_t hash_of(std::string_view text) { return tmeter::TextHash{}(text); }

template <class Value>
class NameMap {
 public:
  struct Entry {
    std::string_view name;
    Value value;
  };

  void reserve(size_t names) {
    entries_.reserve(names);
    if (names * 2 > slots_.size()) rebuild(std::bit_ceil(names * 2));
  }

  /// The index of the entry plus one; 0 if the name is unknown.
  uint32_t find_entry(std::string_view name) const {
    return entries_.empty() ? 0 : slots_[slot_of(name, short_hash(name))].entry;
  }
  /// The same. `last` holds the previous result of a sequence of calls.
  uint32_t find_next(std::string_view name, uint32_t& last) const {
    if (last < entries_.size() && entries_[last].name == name) return ++last;
    const auto entry = find_entry(name);
    if (entry != 0) last = entry;
    return entry;
  }
  void clear() {
    entries_.clear();
    std::ranges::fill(slots_, Slot{});
  }

  const Value* find(std::string_view name) const {
    const uint32_t entry = find_entry(name);
    return entry ? &entries_[entry - 1].value : nullptr;
  }
  Value& at(size_t index) { return entries_[index].value; }
  const Value& at(size_t index) const { return entries_[index].value; }
  Value* find(std::string_view name) { return const_cast<Value*>(std::as_const(*this).find(name)); }

  /// The value of the name and whether it is new; a new name gets `value`.
  std::pair<Value*, bool> insert(std::string_view name, Value value) {
    return insert(name, short_hash(name), std::move(value));
  }
  /// The same with a known hash.
  std::pair<Value*, bool> insert(std::string_view name, uint32_t hash, Value value) {
    if ((entries_.size() + 1) * 2 > slots_.size()) rebuild(std::max<size_t>(64, slots_.size() * 2));
    auto& slot = slots_[slot_of(name, hash)];
    if (slot.entry != 0) return {&entries_[slot.entry - 1].value, false};
    entries_.push_back({name, std::move(value)});
    slot = {hash, static_cast<uint32_t>(entries_.size())};
    return {&entries_.back().value, true};
  }

  /// The same; `keep` copies the name if it is new.
  template <class Keep>
  std::pair<Value*, bool> insert_kept(std::string_view name, Value value, Keep&& keep) {
    return insert_kept(name, short_hash(name), std::move(value), std::forward<Keep>(keep));
  }
  template <class Keep>
  std::pair<Value*, bool> insert_kept(std::string_view name, uint32_t hash, Value value,
                                      Keep&& keep) {
    const auto inserted = insert(name, hash, std::move(value));
    if (inserted.second) entries_.back().name = keep(name);
    return inserted;
  }

  const std::vector<Entry>& entries() const { return entries_; }

  static uint32_t short_hash(std::string_view name) {
    return static_cast<uint32_t>(hash_of(name) >> 32);
  }
  /// Prefetches for a name of this hash, which will soon be looked up. Always inlined: gcc 12
  /// considers a function that only prefetches free of effects, and drops the call.
  __attribute__((always_inline)) void expect(uint32_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }

 private:
  struct Slot {
    uint32_t hash = 0, entry = 0;  // index of the entry plus one; 0 is free
  };

  /// The slot of the name, or the free slot for it. Linear probing, at most half full.
  size_t slot_of(std::string_view name, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const auto& slot = slots_[at];
      if (slot.entry == 0 || (slot.hash == hash && entries_[slot.entry - 1].name == name))
        return at;
    }
  }
  void rebuild(size_t size) {
    std::vector<Slot> slots(size);
    for (const auto& slot : slots_) {
      if (slot.entry == 0) continue;
      size_t at = slot.hash & (size - 1);
      while (slots[at].entry != 0) at = (at + 1) & (size - 1);
      slots[at] = slot;
    }
    slots_ = std::move(slots);
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;
};

}  // namespace pt2
