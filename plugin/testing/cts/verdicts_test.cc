#include "plugin/testing/cts/verdicts.h"

#include <gtest/gtest.h>

#include "plugin/testing/cts/backends.h"

namespace hpu::cts {
namespace verdicts_test {

TEST(VerdictsTest, ExpectedFailureThatPassesIsReported) {
  EXPECT_EQ(Verdict::kGood, Judge(/*failed=*/false, /*skipped=*/false, /*failure_expected=*/false));
  EXPECT_EQ(Verdict::kFailed, Judge(true, false, false));
  EXPECT_EQ(Verdict::kExpectedFailure, Judge(true, false, true));
  EXPECT_EQ(Verdict::kUnexpectedPass, Judge(false, false, true));
  EXPECT_EQ(Verdict::kGood, Judge(false, true, true));
}

TEST(VerdictsTest, ListsMatchByPattern) {
  const std::vector<Listed> list = {{"StreamTest.*", "all"}, {"*.Exact", "one"}};
  EXPECT_EQ("all", Find(list, "StreamTest.Order")->reason);
  EXPECT_EQ("one", Find(list, "CopyTest.Exact")->reason);
  EXPECT_EQ(nullptr, Find(list, "CopyTest.ExactNot"));
  EXPECT_EQ(nullptr, Find(list, "AStreamTest.Order"));
}

}  // namespace verdicts_test
}  // namespace hpu::cts
