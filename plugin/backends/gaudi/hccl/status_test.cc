#include "plugin/backends/gaudi/hccl/status.h"

#include <gtest/gtest.h>

namespace hpu::hccl {
namespace {

TEST(HcclStatusTest, EveryNumberHasAName) {
  for (int32_t number = hcclUninitialized; number <= hcclPortDown; ++number) {
    EXPECT_STRNE(ResultName(static_cast<hcclResult_t>(number)), "unknown result") << number;
  }
  EXPECT_STREQ(ResultName(static_cast<hcclResult_t>(hcclPortDown + 1)), "unknown result");
}

TEST(HcclStatusTest, CodesAreThoseOfTheHal) {
  EXPECT_EQ(StatusCode(hcclSuccess), absl::StatusCode::kOk);
  for (const hcclResult_t result : {hcclInvalidArgument, hcclInvalidUsage}) {
    EXPECT_EQ(StatusCode(result), absl::StatusCode::kInvalidArgument) << ResultName(result);
  }
  // Cancelled: a rank has ended.
  for (const hcclResult_t result : {hcclSocketError, hcclLibfabricError, hcclPortDown}) {
    EXPECT_EQ(StatusCode(result), absl::StatusCode::kCancelled) << ResultName(result);
  }
  EXPECT_EQ(StatusCode(hcclOutOfMemory), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(StatusCode(hcclUnsupported), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(StatusCode(hcclSynapseTerminated), absl::StatusCode::kAborted);
  EXPECT_EQ(StatusCode(hcclStreamError), absl::StatusCode::kInternal);
  EXPECT_EQ(StatusCode(static_cast<hcclResult_t>(99)), absl::StatusCode::kInternal);
}

hcclResult_t Fail() { return hcclInternalError; }

TEST(HcclStatusTest, ErrorsNameCallArgumentsResultAndAdvice) {
  Functions functions;
  functions.hcclGroupEnd = Fail;
  const auto call = [&] { return HPU_HCCL_CALL(functions, hcclGroupEnd, (), "transfers=", 2); };
  EXPECT_EQ(call().message(),
            "hcclGroupEnd(transfers=2) failed with hcclInternalError (6): see SynapseAI's logs for details; "
            "HABANA_LOGS sets their folder");
  functions.hcclGetErrorString = [](hcclResult_t result) {
    return result == hcclInternalError ? "internal error" : "";
  };
  functions.hcclGetLastErrorMessage = [] { return "port 3 is down"; };
  EXPECT_EQ(call().message(),
            "hcclGroupEnd(transfers=2) failed with hcclInternalError (6) (internal error: port 3 is down): see "
            "SynapseAI's logs for details; HABANA_LOGS sets their folder");
  EXPECT_TRUE(ToStatus(functions, hcclSuccess, "hcclGroupEnd", "").ok());
}

}  // namespace
}  // namespace hpu::hccl
