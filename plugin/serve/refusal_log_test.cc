#include "plugin/serve/refusal_log.h"

#include <gtest/gtest.h>

namespace hpu::serve {
namespace {

TEST(RefusalLogTest, ALineTellsWhoWhatAndWhy) {
  RefusalLog log;
  EXPECT_EQ("refused Hold of ipv4:127.0.0.1:5: PERMISSION_DENIED: no",
            log.LineOf("ipv4:127.0.0.1:5", "Hold", absl::PermissionDeniedError("no"), absl::UnixEpoch()));
}

TEST(RefusalLogTest, ClientsCannotWriteLinesOfTheirOwn) {
  RefusalLog log;
  const std::string line =
      log.LineOf("unix:", "Run\nall is well", absl::InvalidArgumentError("x\r\x1b[2J\n"), absl::UnixEpoch());
  EXPECT_EQ("refused Run all is well of unix:: INVALID_ARGUMENT: x  [2J ", line);
}

TEST(RefusalLogTest, ManyAreCounted) {
  RefusalLog log;
  absl::Time now = absl::UnixEpoch();
  const absl::Status status = absl::UnauthenticatedError("no");
  for (int i = 0; i < RefusalLog::kMostLines; ++i) EXPECT_NE("", log.LineOf("", "Run", status, now));
  for (int i = 0; i < 7; ++i) EXPECT_EQ("", log.LineOf("", "Run", status, now));
  now += RefusalLog::kInterval;
  EXPECT_NE(std::string::npos, log.LineOf("", "Run", status, now).find("7 refusals before it were not logged"));
  EXPECT_EQ(std::string::npos, log.LineOf("", "Run", status, now).find("not logged"));
}

}  // namespace
}  // namespace hpu::serve
