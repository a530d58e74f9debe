#include "plugin/backends/common/range_allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace hpu::common {
namespace {

constexpr uint64_t kSize = 64 << 10;
constexpr uint64_t kAlignment = 128;

struct Part {
  uint64_t offset;
  uint64_t bytes;
};

// Marks every unit of each allocated range; a unit that is marked twice is an overlap.
TEST(RangeAllocatorTest, RangesNeverOverlapOrLeak) {
  std::mt19937 random(11);
  RangeAllocator allocator(kSize, kAlignment);
  std::vector<bool> used(kSize / kAlignment);
  std::vector<Part> parts;
  uint64_t used_bytes = 0;
  const auto mark = [&](const Part& part, bool value) {
    for (uint64_t at = part.offset; at < part.offset + part.bytes; at += kAlignment) {
      ASSERT_NE(value, used[at / kAlignment]);
      used[at / kAlignment] = value;
      used_bytes += value ? kAlignment : -kAlignment;
    }
  };
  for (int round = 0; round < 20'000; ++round) {
    if (random() % 2 == 0) {
      const uint64_t bytes = 1 + random() % 3000;
      const uint64_t largest = allocator.largest_free();
      const auto offset = allocator.Allocate(bytes);
      ASSERT_EQ(bytes <= largest, offset.has_value());
      if (!offset.has_value()) continue;
      ASSERT_EQ(0u, *offset % kAlignment);
      ASSERT_LE(*offset + bytes, kSize);
      parts.push_back({*offset, bytes});
      mark(parts.back(), true);
    } else if (!parts.empty()) {
      std::swap(parts[random() % parts.size()], parts.back());
      mark(parts.back(), false);
      allocator.Free(parts.back().offset, parts.back().bytes);
      parts.pop_back();
    }
    ASSERT_EQ(kSize - used_bytes, allocator.free_bytes());
  }
  for (const Part& part : parts) allocator.Free(part.offset, part.bytes);
  EXPECT_EQ(kSize, allocator.largest_free());
}

TEST(RangeAllocatorTest, AllocatesTheBestFit) {
  RangeAllocator allocator(kSize, kAlignment);
  const uint64_t large = allocator.Allocate(4096).value();
  allocator.Allocate(128).value();
  const uint64_t small = allocator.Allocate(1024).value();
  allocator.Allocate(128).value();
  allocator.Free(large, 4096);
  allocator.Free(small, 1024);
  EXPECT_EQ(small, allocator.Allocate(1000).value());
  EXPECT_EQ(large, allocator.Allocate(1025).value());
}

TEST(RangeAllocatorTest, ImpossibleRequestsFail) {
  RangeAllocator allocator(kSize, kAlignment);
  EXPECT_FALSE(allocator.Allocate(0).has_value());
  EXPECT_FALSE(allocator.Allocate(kSize + 1).has_value());
  EXPECT_FALSE(allocator.Allocate(~uint64_t{0}).has_value());
  EXPECT_TRUE(allocator.Allocate(kSize).has_value());
}

}  // namespace
}  // namespace hpu::common
