// Cards by name, and the settings that override their facts.
#include "plugin/base/cards/cards.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace hpu::cards {
namespace {

class CardsTest : public ::testing::Test {
 protected:
  void SetUp() override { Clear(); }
  void TearDown() override { Clear(); }

 private:
  static void Clear() {
    for (const char* name : {"HPU_DEVICE_TYPE", "HPU_MEMORY_MB", "HPU_MODULES"}) unsetenv(name);
  }
};

TEST_F(CardsTest, TheFirstWordNamesTheCard) {
  EXPECT_STREQ(Find("GAUDI")->type, "GAUDI");
  EXPECT_STREQ(Find(" gaudi2")->type, "GAUDI2");
  EXPECT_STREQ(Find("GAUDI HL2000M")->type, "GAUDI");
  EXPECT_EQ(Find("GAUDI4"), nullptr);
  EXPECT_EQ(Find(""), nullptr);
}

TEST_F(CardsTest, TheDeviceTypeDecidesUnlessASettingDoes) {
  setenv("HPU_DEVICE_TYPE", "GAUDI", 1);
  EXPECT_EQ(MemoryMb(), 32768);
  EXPECT_TRUE(Current().added_types.empty());
  setenv("HPU_DEVICE_TYPE", "GAUDI3", 1);
  EXPECT_EQ(MemoryMb(), 131072);
  EXPECT_EQ(Modules(), 8);
  setenv("HPU_MEMORY_MB", "-1", 1);  // the backends report the value
  setenv("HPU_MODULES", "2", 1);
  EXPECT_EQ(MemoryMb(), -1);
  EXPECT_EQ(Modules(), 2);
}

TEST_F(CardsTest, AnUnknownTypeHasTheFactsOfTheDefault) {
  setenv("HPU_DEVICE_TYPE", "something else", 1);
  EXPECT_STREQ(Current().type, "GAUDI2");
}

}  // namespace
}  // namespace hpu::cards
