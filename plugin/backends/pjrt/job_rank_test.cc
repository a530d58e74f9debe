// Tests of ParseJobRank.
#include "plugin/backends/pjrt/job_rank.h"

#include <gtest/gtest.h>

#include "plugin/testing/cts/fixture.h"

namespace hpu::pjrt {
namespace job_rank_test {

TEST(JobRankTest, IsParsed) {
  const JobRank job = cts::Value(ParseJobRank("1/2:/tmp"));
  EXPECT_EQ(1, job.rank);
  EXPECT_EQ(2, job.size);
  EXPECT_EQ("/tmp", job.directory);
}

TEST(JobRankTest, OtherTextsAreRefused) {
  cts::ExpectError(ParseJobRank("").status(), absl::StatusCode::kFailedPrecondition,
                   "HPU_PJRT_RENDEZVOUS is not set: start the program with hpu run -np N");
  for (const char* text : {"/tmp", "0:/tmp", "a/2:/tmp", "2/2:/tmp", "-1/2:/tmp", "0/2:", "0/2"}) {
    cts::ExpectError(ParseJobRank(text).status(), absl::StatusCode::kInvalidArgument, "RANK/SIZE:DIRECTORY");
  }
  cts::ExpectError(ParseJobRank("0/2:/nonexistent").status(), absl::StatusCode::kInvalidArgument,
                   "/nonexistent is not a directory");
}

}  // namespace job_rank_test
}  // namespace hpu::pjrt
