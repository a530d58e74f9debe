#include "plugin/backends/gaudi/synapse/status.h"

#include <gtest/gtest.h>

namespace hpu::synapse {
namespace {

TEST(SynapseStatusTest, EveryNumberHasAName) {
  for (uint32_t number = 0; number <= synResourceBadUsage; ++number) {
    EXPECT_NE(StatusName(static_cast<synStatus>(number)), "unknown status") << number;
  }
  EXPECT_EQ(StatusName(static_cast<synStatus>(synResourceBadUsage + 1)), "unknown status");
}

TEST(SynapseStatusTest, CodesAreThoseOfTheHal) {
  EXPECT_EQ(StatusCode(synSuccess), absl::StatusCode::kOk);
  for (const synStatus status : {synInvalidArgument, synInvalidTensorDimensions, synInvalidTensorProperties}) {
    EXPECT_EQ(StatusCode(status), absl::StatusCode::kInvalidArgument) << StatusName(status);
  }
  for (const synStatus status : {synOutOfDeviceMemory, synFailedToAllocateDeviceMemory}) {
    EXPECT_EQ(StatusCode(status), absl::StatusCode::kResourceExhausted) << StatusName(status);
  }
  for (const synStatus status :
       {synNoDeviceFound, synFailedNotEnoughDevicesFound, synDeviceAlreadyAcquired, synAllResourcesTaken}) {
    EXPECT_EQ(StatusCode(status), absl::StatusCode::kUnavailable) << StatusName(status);
  }
  EXPECT_EQ(StatusCode(synUnsupported), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(StatusCode(synFail), absl::StatusCode::kInternal);
  EXPECT_EQ(StatusCode(static_cast<synStatus>(99)), absl::StatusCode::kInternal);
}

TEST(SynapseStatusTest, ResetAndTerminationLoseTheDevice) {
  for (uint32_t number = 0; number <= synResourceBadUsage; ++number) {
    const auto status = static_cast<synStatus>(number);
    EXPECT_EQ(LosesDevice(status), StatusCode(status) == absl::StatusCode::kAborted) << number;
  }
  EXPECT_TRUE(LosesDevice(synDeviceReset));
  EXPECT_TRUE(LosesDevice(synSynapseTerminated));
}

TEST(SynapseStatusTest, ErrorsNameCallArgumentsStatusAndAdvice) {
  EXPECT_TRUE(ToStatus(synSuccess, "synDeviceMalloc", "").ok());
  const absl::Status status = ToStatus(synOutOfDeviceMemory, "synDeviceMalloc", "size=1024, device=0");
  EXPECT_EQ(status.message(),
            "synDeviceMalloc(size=1024, device=0) failed with synOutOfDeviceMemory (4): the device has too little free "
            "memory; use a smaller batch, or end other processes on the device");
  EXPECT_EQ(ToStatus(static_cast<synStatus>(99), "synLaunch", "").message(),
            "synLaunch() failed with unknown status (99): see SynapseAI's logs for details; HABANA_LOGS sets their "
            "folder");
}

TEST(SynapseStatusTest, AdviceTellsOwnDevicesFromThoseOfOtherProcesses) {
  EXPECT_NE(ToStatus(synDeviceAlreadyAcquired, "synDeviceAcquire", "").message().find("another process"),
            std::string::npos);
  EXPECT_NE(ToStatus(synAllResourcesTaken, "synDeviceAcquire", "").message().find("this process already holds"),
            std::string::npos);
}

}  // namespace
}  // namespace hpu::synapse
