#include "plugin/backends/common/range_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hpu::common {
namespace {

// Compares lookups in overlapping, nested and repeated ranges to a linear search.
TEST(RangeSetTest, MatchesLinearSearch) {
  std::mt19937 random(7);
  RangeSet set;
  std::vector<RangeSet::Range> ranges;
  for (int round = 0; round < 3000; ++round) {
    if (ranges.empty() || random() % 2 == 0) {
      const uint64_t begin = 1 + random() % 100;
      const uint64_t bytes = 1 + random() % 30;
      ranges.push_back({begin, begin + bytes});
      set.Insert(begin, bytes);
    } else {
      const size_t victim = random() % ranges.size();
      set.Erase(ranges[victim].begin, ranges[victim].end - ranges[victim].begin);
      ranges.erase(ranges.begin() + victim);
    }
    RangeSet::Reader reader(set);
    for (int question = 0; question < 20; ++question) {
      const uint64_t begin = random() % 140;
      const uint64_t bytes = 1 + random() % 20;
      const bool expected = std::any_of(ranges.begin(), ranges.end(), [&](const RangeSet::Range& range) {
        return range.begin <= begin && begin + bytes <= range.end;
      });
      ASSERT_EQ(expected, reader.Contains(begin, bytes)) << begin << " + " << bytes;
    }
  }
}

TEST(RangeSetTest, QueriesMayReachTheEndOfTheAddressSpace) {
  RangeSet set;
  set.Insert(1000, 10);
  RangeSet::Reader reader(set);
  EXPECT_TRUE(reader.Contains(1000, 10));
  EXPECT_FALSE(reader.Contains(1005, ~uint64_t{0}));
  EXPECT_FALSE(reader.Contains(~uint64_t{0}, 1));
  EXPECT_FALSE(reader.Contains(~uint64_t{0}, ~uint64_t{0}));
  EXPECT_EQ(1000u, reader.Around(1009).begin);
  EXPECT_EQ(0u, reader.Around(1010).end);
}

}  // namespace
}  // namespace hpu::common
