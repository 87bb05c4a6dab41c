// The memory of a graph: what is given out belongs to nobody else, whoever makes its pages ready.
#include "core/ir/arena.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

namespace tmeter::core {
namespace {

struct Piece {
  unsigned char* data;
  size_t size;
  unsigned char mark;
};

/// Pieces of all sizes and alignments, written from end to end as they are given out.
void expect_own_memory(Arena& arena, uint32_t seed, size_t total, bool stops) {
  std::mt19937 random(seed);
  std::vector<Piece> pieces;
  for (size_t given = 0; given < total;) {
    size_t size = random() % 300;
    if (random() % 500 == 0) size = random() % (size_t{3} << 20);
    if (random() % 50 == 0) size = random() % 20'000;
    const size_t alignment = size_t{1} << random() % 7;
    auto* data = static_cast<unsigned char*>(arena.allocate(size, alignment));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
    pieces.push_back({data, size, static_cast<unsigned char>(random())});
    if (size > 0) std::memset(data, pieces.back().mark, size);
    given += size;
    if (stops && given > total / 2) arena.stop_helping();
  }
  for (const auto& piece : pieces)
    for (size_t i = 0; i < piece.size; ++i) ASSERT_EQ(piece.data[i], piece.mark);
}

TEST(Arena, GivesMemoryThatIsNobodyElses) {
  constexpr size_t kNever = ~size_t{0};
  for (const size_t large : {size_t{0}, size_t{1} << 20, kNever}) {
    for (const bool stops : {false, true}) {
      Arena arena(large);
      expect_own_memory(arena, static_cast<uint32_t>(large) + stops, size_t{12} << 20, stops);
      const bool may = large != kNever && !stops && std::thread::hardware_concurrency() > 1;
      EXPECT_EQ(arena.has_help(), may);
    }
  }
}

TEST(Arena, SmallOnesTakeNoThread) {
  Arena arena;
  for (int i = 0; i < 1000; ++i) static_cast<void>(arena.allocate(1000, 8));
  EXPECT_FALSE(arena.has_help());
}

TEST(Arena, CanBeLeftWhileItIsHelped) {
  for (int round = 0; round < 200; ++round) {
    Arena arena(0);
    static_cast<void>(arena.allocate(static_cast<size_t>(round) * 5'000, 1));
  }
}

TEST(Arena, TakesNothing) {
  Arena arena;
  static_cast<void>(arena.allocate(0, 1));
  auto* one = static_cast<char*>(arena.allocate(1, 1));
  *one = 'x';
  static_cast<void>(arena.allocate(0, 64));
  EXPECT_EQ(*one, 'x');
}

}  // namespace
}  // namespace tmeter::core
