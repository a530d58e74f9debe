// Tests of AddressMap against a model with one entry per address.
#include "plugin/backends/pjrt/address_map.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace hpu::pjrt {
namespace address_map_test {

SharedBufferPtr Buffer(uint64_t bytes) { return std::make_shared<SharedBuffer>(BufferHandle(), bytes); }

// Contents of one address: a buffer and an offset in the buffer, or null.
using Cell = std::pair<const SharedBuffer*, uint64_t>;

std::vector<Cell> Cells(const AddressMap& map, hal::DeviceAddress address, uint64_t bytes) {
  std::vector<Cell> cells;
  for (const AddressMap::Piece& piece : map.Pieces(address, bytes)) {
    EXPECT_GT(piece.bytes, 0u);
    for (uint64_t i = 0; i < piece.bytes; ++i) {
      cells.emplace_back(piece.buffer.get(), piece.buffer == nullptr ? 0 : piece.offset + i);
    }
  }
  return cells;
}

TEST(AddressMap, UnwrittenRangeIsOnePieceWithoutBuffer) {
  AddressMap map;
  map.Bind(100, 10, Buffer(10));
  const auto pieces = map.Pieces(200, 50);
  ASSERT_EQ(1u, pieces.size());
  EXPECT_EQ(nullptr, pieces[0].buffer);
  EXPECT_EQ(50u, pieces[0].bytes);
}

TEST(AddressMap, FindWholeReturnsWholeBuffersOnly) {
  AddressMap map;
  const SharedBufferPtr buffer = Buffer(10);
  map.Bind(100, 10, buffer);
  ASSERT_NE(nullptr, map.FindWhole(100, 10));
  EXPECT_EQ(buffer, *map.FindWhole(100, 10));
  EXPECT_EQ(nullptr, map.FindWhole(100, 5));
  EXPECT_EQ(nullptr, map.FindWhole(105, 5));
  map.Bind(200, 5, buffer, 5);
  EXPECT_EQ(nullptr, map.FindWhole(200, 5));
  map.Bind(300, 5, buffer);  // the first half of the buffer
  EXPECT_EQ(nullptr, map.FindWhole(300, 5));
}

TEST(AddressMap, GenerationChangesWhenRangesAreRemovedOrCut) {
  AddressMap map;
  map.Bind(100, 10, Buffer(10));
  SharedBufferPtr* const found = map.FindWhole(100, 10);
  const uint64_t generation = map.generation();
  map.Bind(200, 10, Buffer(10));  // a new range
  map.Bind(100, 10, Buffer(10));  // the same range
  map.Erase(300, 10);             // no range
  EXPECT_EQ(generation, map.generation());
  EXPECT_EQ(found, map.FindWhole(100, 10));
  map.Erase(109, 1);
  EXPECT_NE(generation, map.generation());
  const uint64_t cut = map.generation();
  map.Erase(200, 10);
  EXPECT_NE(cut, map.generation());
}

TEST(AddressMap, BuffersAreFreedWithTheirLastAddress) {
  AddressMap map;
  SharedBufferPtr buffer = Buffer(30);
  const std::weak_ptr<SharedBuffer> watch = buffer;
  map.Bind(100, 30, std::move(buffer));
  map.Erase(110, 10);
  EXPECT_FALSE(watch.expired());
  map.Bind(100, 10, Buffer(10));
  EXPECT_FALSE(watch.expired());
  map.Erase(120, 10);
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(1u, map.size());
}

TEST(AddressMap, RandomChangesMatchReference) {
  constexpr uint64_t kSize = 64;
  constexpr hal::DeviceAddress kBase = 1000;
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    AddressMap map;
    std::vector<SharedBufferPtr> buffers;  // keeps addresses of buffers unique
    std::vector<Cell> model(kSize, Cell(nullptr, 0));
    for (int change = 0; change < 40; ++change) {
      const uint64_t begin = random() % kSize;
      const uint64_t bytes = 1 + random() % (kSize - begin);
      if (random() % 4 == 0) {
        map.Erase(kBase + begin, bytes);
        for (uint64_t i = 0; i < bytes; ++i) model[begin + i] = Cell(nullptr, 0);
      } else {
        const uint64_t offset = random() % 3;
        buffers.push_back(Buffer(offset + bytes + random() % 3));
        map.Bind(kBase + begin, bytes, buffers.back(), offset);
        for (uint64_t i = 0; i < bytes; ++i) model[begin + i] = Cell(buffers.back().get(), offset + i);
      }
      const uint64_t first = random() % kSize;
      const uint64_t count = 1 + random() % (kSize - first);
      ASSERT_EQ(std::vector<Cell>(model.begin() + first, model.begin() + first + count),
                Cells(map, kBase + first, count));
    }
    ASSERT_EQ(model, Cells(map, kBase, kSize));
  }
}

}  // namespace address_map_test
}  // namespace hpu::pjrt
