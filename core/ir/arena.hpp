// Memory of a graph: allocated from one end to the other, freed as a whole.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace tmeter::core {

class Arena final : public std::pmr::memory_resource {
 public:
  /// Whether these bytes are in one of its blocks and aligned for an object. Checks addresses that
  /// a plugin returns, before they are dereferenced.
  bool owns(const void* at, size_t bytes) const { return blocks_.contain(at, bytes); }

 private:
  /// Allocates the blocks and remembers them.
  class Blocks final : public std::pmr::memory_resource {
   public:
    bool contain(const void* at, size_t bytes) const {
      const auto address = reinterpret_cast<uintptr_t>(at);
      if (address % alignof(void*) != 0) return false;
      return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& b) {
        return address >= b.begin && bytes <= b.size && address - b.begin <= b.size - bytes;
      });
    }

   private:
    struct Block {
      uintptr_t begin;
      size_t size;
    };
    void* do_allocate(size_t bytes, size_t alignment) override {
      auto& block = blocks_.emplace_back();
      auto* memory = std::pmr::new_delete_resource()->allocate(bytes, alignment);
      block = {reinterpret_cast<uintptr_t>(memory), bytes};
      return memory;
    }
    void do_deallocate(void* memory, size_t bytes, size_t alignment) override {
      std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }

    std::vector<Block> blocks_;
  };

  void* do_allocate(size_t bytes, size_t alignment) override {
    return buffer_.allocate(bytes, alignment);
  }
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  Blocks blocks_;
  std::pmr::monotonic_buffer_resource buffer_{size_t{64} << 10, &blocks_};
};

}  // namespace tmeter::core
