// Memory of a graph: given out from one end to the other, and given back as a whole.
//
// Half of what a large graph takes to be built is the kernel clearing its pages. From some
// megabytes on another thread has that done for those that come next; where it cannot be had, or
// the kernel knows no such wish, they are cleared when they are first touched, as always.
#pragma once
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

namespace tmeter::core {

class Arena final : public std::pmr::memory_resource {
 public:
  /// From so many bytes on somebody helps.
  explicit Arena(size_t large = size_t{4} << 20);
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Nothing more is going to be asked for, or little: the helping thread ends.
  void stop_helping();
  bool has_help() const { return helper_ != nullptr; }
  /// Whether these bytes are in one of its blocks, and aligned for an object.
  bool owns(const void* at, size_t bytes) const;

 private:
  class Helper;
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
  void* allocate_further(size_t bytes, size_t alignment);
  void begin_block(size_t bytes);
  void begin_step(char* to);

  // The bytes [at_, step_) are free, and those up to end_: the helper is told at each step.
  char *at_ = nullptr, *step_ = nullptr, *end_ = nullptr;
  size_t large_, size_ = 0;  // bytes of all blocks
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Block> blocks_;
  std::unique_ptr<Helper> helper_;
  bool may_help_ = true;
};

}  // namespace tmeter::core
