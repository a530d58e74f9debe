#include "plugin/base/containers/lru_map.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace hpu {
namespace {

using Map = LruMap<int, std::string>;

void FillMap(Map& map, int count) {
  for (int i = 0; i < count; ++i) map.Add(i, std::make_shared<std::string>(std::to_string(i)));
}

TEST(LruMapTest, FindsValues) {
  Map map(8);
  FillMap(map, 3);
  ASSERT_NE(map.Find(1), nullptr);
  EXPECT_EQ(*map.Find(1), "1");
  EXPECT_EQ(map.Find(3), nullptr);
}

TEST(LruMapTest, DropsTheValuesFoundLongestAgo) {
  Map map(16);
  FillMap(map, 16);
  EXPECT_NE(map.Find(0), nullptr);
  map.Add(100, std::make_shared<std::string>("new"));
  EXPECT_EQ(map.size(), 15u);  // an eighth was dropped
  EXPECT_NE(map.Find(0), nullptr);
  EXPECT_EQ(map.Find(1), nullptr);
  EXPECT_EQ(map.Find(2), nullptr);
  EXPECT_NE(map.Find(3), nullptr);
}

TEST(LruMapTest, KeepsValuesThatOthersUse) {
  Map map(8);
  map.Add(-1, std::make_shared<std::string>("used"));
  const std::shared_ptr<std::string> used = map.Find(-1);
  FillMap(map, 100);
  EXPECT_LE(map.size(), 8u);
  EXPECT_EQ(map.Find(-1), used);
}

TEST(LruMapTest, GrowsIfAllValuesAreUsed) {
  Map map(4);
  std::vector<std::shared_ptr<std::string>> used;
  for (int i = 0; i < 10; ++i) used.push_back(map.Add(i, std::make_shared<std::string>("used")));
  EXPECT_EQ(map.size(), 10u);
}

TEST(LruMapTest, ThreadsFindAtTheSameTime) {
  Map map(100);
  FillMap(map, 100);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&map] {
      for (int i = 0; i < 10000; ++i) EXPECT_EQ(*map.Find(i % 100), std::to_string(i % 100));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hpu
