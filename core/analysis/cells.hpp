// The values of one metric for the rows of one table: nine bytes each instead of the 24 of a
// tmeter_number. Cells that were never set take no memory.
#pragma once
#include <tmeter/abi/base.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <utility>
#include <vector>

namespace tmeter::core {

/// Allocates zeroed pages that are not touched before use.
template <class T>
struct ZeroedMemory {
  using value_type = T;
  ZeroedMemory() = default;
  template <class U>
  ZeroedMemory(const ZeroedMemory<U>&) {}  // NOLINT: like all allocators
  T* allocate(size_t n) {
    if (auto* memory = static_cast<T*>(std::calloc(n, sizeof(T)))) return memory;
    throw std::bad_alloc();
  }
  void deallocate(T* memory, size_t) { std::free(memory); }
  template <class U>
  void construct(U*) {}
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
  bool operator==(const ZeroedMemory&) const = default;
};

class Cells {
 public:
  Cells() = default;
  Cells(std::initializer_list<tmeter_number> values) {  // NOLINT: like a vector
    resize(values.size());
    size_t i = 0;
    for (const auto& n : values) set(i++, n);
  }

  size_t size() const { return tags_.size(); }
  bool empty() const { return tags_.empty(); }
  int32_t kind(size_t i) const { return tags_[i] & kKind; }
  tmeter_number operator[](size_t i) const {
    const auto kind = this->kind(i);
    const int64_t integer = kind == TMETER_NUMBER_INT ? payloads_[i] : 0;
    const double real = kind == TMETER_NUMBER_FLOAT ? std::bit_cast<double>(payloads_[i]) : 0;
    return {kind, static_cast<uint32_t>(tags_[i] >> kFlagsAt), integer, real};
  }
  void set(size_t i, const tmeter_number& n) {
    tags_[i] = static_cast<uint8_t>((n.kind & kKind) | (n.flags & kFlags) << kFlagsAt);
    if (n.kind == TMETER_NUMBER_INT) payloads_[i] = n.i;
    if (n.kind == TMETER_NUMBER_FLOAT) payloads_[i] = std::bit_cast<int64_t>(n.f);
  }
  void mark(size_t i, uint32_t flags) { tags_[i] |= static_cast<uint8_t>(flags << kFlagsAt); }

  void add(const tmeter_number& n) {
    resize(size() + 1);
    set(size() - 1, n);
  }
  /// New cells have no value.
  void resize(size_t size) {
    for (size_t i = size; i < tags_.size(); ++i) tags_[i] = 0;  // removed cells may be added again
    tags_.resize(size);
    payloads_.resize(size);
  }
  void assign(size_t size, const tmeter_number& each) {
    *this = Cells();
    resize(size);
    if (each.kind != TMETER_NUMBER_NONE)
      for (size_t i = 0; i < size; ++i) set(i, each);
  }
  void clear() { *this = Cells(); }

 private:
  static constexpr uint8_t kKind = 0xF, kFlags = 0xF, kFlagsAt = 4;
  static_assert(TMETER_NUMBER_IN_MODULE <= kKind);
  static_assert((TMETER_NUMBER_PARTIAL | TMETER_NUMBER_BY_MODULE | TMETER_NUMBER_ASSUMED) <=
                kFlags);

  std::vector<uint8_t, ZeroedMemory<uint8_t>> tags_;      // kind and flags
  std::vector<int64_t, ZeroedMemory<int64_t>> payloads_;  // payloads of numbers
};

}  // namespace tmeter::core
