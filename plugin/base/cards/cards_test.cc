// Cards by name, and the settings that override their facts.
#include "plugin/base/cards/cards.h"

#include "gtest/gtest.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::cards {
namespace {

using cts::ScopedVariable;

TEST(CardsTest, TheFirstWordNamesTheCard) {
  EXPECT_STREQ(Find("GAUDI")->type, "GAUDI");
  EXPECT_STREQ(Find(" gaudi2")->type, "GAUDI2");
  EXPECT_STREQ(Find("GAUDI HL2000M")->type, "GAUDI");
  EXPECT_EQ(Find("GAUDI4"), nullptr);
  EXPECT_EQ(Find(""), nullptr);
}

TEST(CardsTest, TheDeviceTypeDecidesUnlessASettingDoes) {
  const ScopedVariable memory("HPU_MEMORY_MB", "0");
  const ScopedVariable modules("HPU_MODULES", "0");
  {
    const ScopedVariable type("HPU_DEVICE_TYPE", "GAUDI");
    EXPECT_EQ(MemoryMb(), 32768);
    EXPECT_TRUE(Current().added_types.empty());
  }
  const ScopedVariable type("HPU_DEVICE_TYPE", "GAUDI3");
  EXPECT_EQ(MemoryMb(), 131072);
  EXPECT_EQ(Modules(), 8);
  const ScopedVariable less("HPU_MEMORY_MB", "64");
  const ScopedVariable two("HPU_MODULES", "2");
  EXPECT_EQ(MemoryMb(), 64);
  EXPECT_EQ(Modules(), 2);
}

TEST(CardsTest, AnUnknownTypeHasTheFactsOfTheDefault) {
  const ScopedVariable type("HPU_DEVICE_TYPE", "something else");
  EXPECT_STREQ(Current().type, "GAUDI2");
}

}  // namespace
}  // namespace hpu::cards
