// Verdicts: comparison of a run's failures with the expected failures.
#ifndef HPU_PLUGIN_TESTING_CTS_VERDICTS_H_
#define HPU_PLUGIN_TESTING_CTS_VERDICTS_H_

#include <gtest/gtest.h>

#include <string>

namespace hpu::cts {

// "Suite.Test" without the parts that the instantiation over backends adds.
std::string PlainName(const testing::TestInfo& info);
// The backend of an instantiated test; empty for other tests.
std::string BackendOf(const testing::TestInfo& info);

enum class Verdict { kGood, kExpectedFailure, kFailed, kUnexpectedPass };

// Verdict on a completed or skipped test. Skipped tests are good.
Verdict Judge(bool failed, bool skipped, bool failure_expected);

// Prints verdicts other than kGood, each with the reason from its list. Returns 0 if there is no failure and no
// unexpected pass, else 1. Call after RUN_ALL_TESTS, whose own exit code is 1 even if all failures were expected.
int ExitCode(const testing::UnitTest& unit_test);

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_VERDICTS_H_
