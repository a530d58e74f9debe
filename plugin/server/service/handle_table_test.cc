#include "plugin/server/service/handle_table.h"

#include <gtest/gtest.h>

#include <thread>

namespace hpu::serve {
namespace {

std::shared_ptr<int> Number(int value) { return std::make_shared<int>(value); }

TEST(HandleTableTest, ObjectIsErasedAfterItsUses) {
  HandleTable<int> table(10);
  EXPECT_TRUE(table.Put(1, Number(5)).ok());
  const std::weak_ptr<int> watch = table.Use(1);
  EXPECT_TRUE(table.Release(1, 3).ok());  // arrives before two uses
  EXPECT_EQ(5, *table.Use(1));
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(5, *table.Use(1));
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(0u, table.size());
  EXPECT_EQ(nullptr, table.Use(1));
}

TEST(HandleTableTest, ReleaseMayArriveBeforeTheObject) {
  HandleTable<int> table(10);
  EXPECT_TRUE(table.Release(1, 1).ok());
  EXPECT_EQ(nullptr, table.Use(1));
  EXPECT_TRUE(table.Put(1, Number(5)).ok());
  EXPECT_EQ(5, *table.Use(1));
  EXPECT_TRUE(table.Release(2, 0).ok());
  EXPECT_TRUE(table.Put(2, Number(6)).ok());
  EXPECT_EQ(0u, table.size());
}

TEST(HandleTableTest, HandlesAreUniqueAndBounded) {
  HandleTable<int> table(2);
  EXPECT_TRUE(table.Put(1, Number(1)).ok());
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, table.Put(1, Number(2)).code());
  EXPECT_EQ(1, *table.Use(1));
  EXPECT_TRUE(table.Put(2, Number(2)).ok());
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, table.Put(3, Number(3)).code());
  EXPECT_EQ(2u, table.size());
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, table.Release(4, 1).code());
}

TEST(HandleTableTest, AwaitWakesForTheObjectAndForClose) {
  HandleTable<int> table(10);
  int found = 0;
  bool ended = false;
  std::thread first([&] { found = *table.Await(1); });
  std::thread second([&] { ended = table.Await(2) == nullptr; });
  EXPECT_TRUE(table.Put(1, Number(5)).ok());
  first.join();
  table.Close();
  second.join();
  EXPECT_EQ(5, found);
  EXPECT_TRUE(ended);
  EXPECT_EQ(absl::StatusCode::kCancelled, table.Put(3, Number(3)).code());
}

}  // namespace
}  // namespace hpu::serve
