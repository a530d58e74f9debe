#include "plugin/testing/cts/verdicts.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "plugin/testing/cts/backends.h"

namespace hpu::cts {
namespace {

// The list entry that expects the test to fail; nullptr if there is none.
const Listed* ExpectedFailure(const testing::TestInfo& info) {
  for (const BackendUnderTest& backend : Backends()) {
    if (backend.name == BackendOf(info)) return Find(backend.expected_failures, PlainName(info));
  }
  return nullptr;
}

int Report(const testing::TestInfo& info) {
  const Listed* listed = ExpectedFailure(info);
  const std::string name = absl::StrCat(PlainName(info), " on ", BackendOf(info));
  switch (Judge(info.result()->Failed(), info.result()->Skipped(), listed != nullptr)) {
    case Verdict::kGood:
      return 0;
    case Verdict::kExpectedFailure:
      std::printf("EXPECTED FAILURE %s: %s\n", name.c_str(), listed->reason.c_str());
      return 0;
    case Verdict::kFailed:
      std::printf("FAILURE %s\n", name.c_str());
      return 1;
    case Verdict::kUnexpectedPass:
      std::printf("UNEXPECTED PASS %s: remove it from the backend's expected failures (%s)\n", name.c_str(),
                  listed->reason.c_str());
      return 1;
  }
  return 1;
}

}  // namespace

std::string PlainName(const testing::TestInfo& info) {
  const std::vector<std::string> suite = absl::StrSplit(info.test_suite_name(), '/');  // "Cts/Suite"
  const std::vector<std::string> test = absl::StrSplit(info.name(), '/');              // "Test/backend"
  return absl::StrCat(suite.back(), ".", test.front());
}

std::string BackendOf(const testing::TestInfo& info) {
  const std::vector<std::string> test = absl::StrSplit(info.name(), '/');
  return test.size() > 1 ? test.back() : "";
}

Verdict Judge(bool failed, bool skipped, bool failure_expected) {
  if (failed) return failure_expected ? Verdict::kExpectedFailure : Verdict::kFailed;
  return failure_expected && !skipped ? Verdict::kUnexpectedPass : Verdict::kGood;
}

int ExitCode(const testing::UnitTest& unit_test) {
  // A failure outside a test, such as in an environment's set-up, is on no list.
  int code = unit_test.ad_hoc_test_result().Failed() ? 1 : 0;
  for (int i = 0; i < unit_test.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *unit_test.GetTestSuite(i);
    if (suite.ad_hoc_test_result().Failed()) code = 1;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& info = *suite.GetTestInfo(j);
      if (info.should_run()) code |= Report(info);
    }
  }
  return code;
}

}  // namespace hpu::cts
