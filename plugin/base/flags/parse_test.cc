#include "plugin/base/flags/parse.h"

#include "gtest/gtest.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::flags {
namespace {

using cts::ScopedVariable;

TEST(ParseTest, OldNameAppliesUnlessTheNewOneIsSet) {
  const Variable variable("HPU_PARSE_TEST", "HPU_PARSE_TEST_BEFORE");
  EXPECT_EQ(ParseInt(variable, 1), 1);
  const ScopedVariable old("HPU_PARSE_TEST_BEFORE", "2");
  EXPECT_EQ(ParseInt(variable, 1), 2);
  {
    const ScopedVariable empty("HPU_PARSE_TEST", "");
    EXPECT_EQ(ParseInt(variable, 1), 2);
  }
  const ScopedVariable now("HPU_PARSE_TEST", "3");
  EXPECT_EQ(ParseInt(variable, 1), 3);
}

TEST(ParseTest, AnUnreadableValueCountsAsUnset) {
  const ScopedVariable variable("HPU_PARSE_TEST", "many");
  EXPECT_EQ(ParseInt("HPU_PARSE_TEST", 1), 1);
  EXPECT_TRUE(ParseBool("HPU_PARSE_TEST", true));
  EXPECT_EQ(ParseChoice("HPU_PARSE_TEST", 1, {"few", "all"}), 1);
}

TEST(ParseTest, ANumberOutOfRangeCountsAsUnset) {
  for (const char* value : {"-1", "4", "99999999999999999999"}) {
    const ScopedVariable variable("HPU_PARSE_TEST", value);
    EXPECT_EQ(ParseInt("HPU_PARSE_TEST", 2, 0, 3), 2) << value;
  }
  const ScopedVariable variable("HPU_PARSE_TEST", "3");
  EXPECT_EQ(ParseInt("HPU_PARSE_TEST", 2, 0, 3), 3);
}

TEST(ParseTest, ListsDropBlanksAndEmptyEntries) {
  const ScopedVariable variable("HPU_PARSE_TEST", " 0, 3,,7 ");
  EXPECT_EQ(ParseList("HPU_PARSE_TEST", ""), (std::vector<std::string>{"0", "3", "7"}));
}

}  // namespace
}  // namespace hpu::flags
