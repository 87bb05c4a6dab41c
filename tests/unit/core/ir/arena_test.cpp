// The memory of a graph: allocations do not overlap, and foreign addresses are recognised.
#include "core/ir/arena.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace tmeter::core {
namespace {

struct Piece {
  unsigned char* data;
  size_t size;
  unsigned char mark;
};

TEST(Arena, GivesAlignedPiecesThatDoNotOverlap) {
  Arena arena;
  std::mt19937 random(1);
  std::vector<Piece> pieces;
  for (size_t given = 0; given < size_t{12} << 20;) {
    size_t size = random() % 300;
    if (random() % 500 == 0) size = random() % (size_t{3} << 20);
    if (random() % 50 == 0) size = random() % 20'000;
    const size_t alignment = size_t{1} << random() % 7;
    auto* data = static_cast<unsigned char*>(arena.allocate(size, alignment));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
    pieces.push_back({data, size, static_cast<unsigned char>(random())});
    if (size > 0) std::memset(data, pieces.back().mark, size);
    given += size;
  }
  for (const auto& piece : pieces) {
    for (size_t i = 0; i < piece.size; ++i) ASSERT_EQ(piece.data[i], piece.mark);
    if (reinterpret_cast<uintptr_t>(piece.data) % alignof(void*) == 0) {
      ASSERT_TRUE(arena.owns(piece.data, piece.size));
    }
  }
}

TEST(Arena, OwnsOnlyObjectsInItsBlocks) {
  Arena arena, other;
  auto* mine = static_cast<char*>(arena.allocate(64, 8));
  auto* foreign = static_cast<char*>(other.allocate(64, 8));
  uint64_t local = 0;
  EXPECT_TRUE(arena.owns(mine, 64));
  EXPECT_TRUE(arena.owns(mine + 8, 56));
  EXPECT_FALSE(arena.owns(mine + 1, 8)) << "an object cannot begin there";
  EXPECT_FALSE(arena.owns(mine, size_t{1} << 40)) << "goes beyond the block";
  EXPECT_FALSE(arena.owns(mine, SIZE_MAX));
  EXPECT_FALSE(arena.owns(foreign, 64));
  EXPECT_FALSE(arena.owns(&local, sizeof local));
  EXPECT_FALSE(arena.owns(nullptr, 0));
  EXPECT_FALSE(Arena().owns(mine, 8));
}

}  // namespace
}  // namespace tmeter::core
