#include "plugin/backends/gaudi/synapse/profile.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"

namespace hpu::synapse {
namespace {

constexpr Profile kProfiles[] = {Profile::k1_5, Profile::k1_18};

TEST(SynapseProfileTest, VersionsSelectTheProfile) {
  EXPECT_EQ(*ProfileOfVersion("1.5.0"), Profile::k1_5);
  EXPECT_EQ(*ProfileOfVersion("1.18.0-ee698fb"), Profile::k1_18);
  EXPECT_EQ(*ProfileOfVersion("1.19"), Profile::k1_18);
  EXPECT_EQ(*ProfileOfVersion("driver r7: 1.18.0.524"), Profile::k1_18);
}

TEST(SynapseProfileTest, UnknownReleasesAreRefused) {
  for (const absl::string_view version : {"1.21.0-555", "1.6.0", "2.5.0", "1.180.0", "11.5"}) {
    const absl::Status status = ProfileOfVersion(version).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), version)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "supported releases: 1.5, 1.18, 1.19")) << status;
  }
  for (const absl::string_view version : {"", "unknown", "1", "1.", ".5", "x1.y"}) {
    const absl::Status status = ProfileOfVersion(version).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "is not the version of a release")) << status;
  }
}

TEST(SynapseProfileTest, DeviceTypesOfTheProfiles) {
  EXPECT_EQ(*ToDeviceType(Profile::k1_5, Generation::kGaudi), 0);
  EXPECT_EQ(*ToDeviceType(Profile::k1_5, Generation::kGaudi2), 1);
  EXPECT_TRUE(absl::IsUnimplemented(ToDeviceType(Profile::k1_5, Generation::kGaudi3).status()));
  EXPECT_EQ(*ToDeviceType(Profile::k1_18, Generation::kGaudi), 2);
  EXPECT_EQ(*ToDeviceType(Profile::k1_18, Generation::kGaudi2), 4);
  EXPECT_EQ(*ToDeviceType(Profile::k1_18, Generation::kGaudi3), 5);
}

TEST(SynapseProfileTest, GenerationsOfTheProfiles) {
  EXPECT_EQ(*ToGeneration(Profile::k1_5, 1), Generation::kGaudi2);
  EXPECT_EQ(*ToGeneration(Profile::k1_18, 5), Generation::kGaudi3);
  for (const uint32_t other : {v1_18::synDeviceGreco, v1_18::synDeviceEmulator, v1_18::synDeviceTypeInvalid}) {
    EXPECT_TRUE(absl::IsUnimplemented(ToGeneration(Profile::k1_18, other).status())) << other;
  }
}

TEST(SynapseProfileTest, DeviceAttributesOfTheProfiles) {
  EXPECT_EQ(*ToDeviceAttribute(Profile::k1_18, DeviceAttribute::kDramBytes), v1_18::DEVICE_ATTRIBUTE_DRAM_SIZE);
  EXPECT_EQ(*ToDeviceAttribute(Profile::k1_18, DeviceAttribute::kAddressAlignment), 11);
  EXPECT_EQ(*ToDeviceAttribute(Profile::k1_18, DeviceAttribute::kMaxDimensions), 12);
  EXPECT_EQ(*ToDeviceAttribute(Profile::k1_5, DeviceAttribute::kClockRate), v1_5::DEVICE_ATTRIBUTE_CLK_RATE);
  EXPECT_TRUE(absl::IsUnimplemented(ToDeviceAttribute(Profile::k1_5, DeviceAttribute::kAddressAlignment).status()));
  EXPECT_EQ(*ToDeviceAttribute(Profile::k1_5, DeviceAttribute::kMaxDimensions), 11);
}

TEST(SynapseProfileTest, StreamTypesOfEngines) {
  EXPECT_EQ(ToStreamType(Engine::kDeviceToHost), 0);
  EXPECT_EQ(ToStreamType(Engine::kHostToDevice), 1);
  EXPECT_EQ(ToStreamType(Engine::kDeviceToDevice), 2);
  EXPECT_EQ(ToStreamType(Engine::kCompute), 3);
  EXPECT_EQ(ToStreamType(Engine::kCollective), 4);
}

TEST(SynapseProfileTest, RanksFromOneToTheMaximum) {
  for (const Profile profile : kProfiles) {
    EXPECT_TRUE(CheckDimensions(profile, {1}).ok());
    EXPECT_TRUE(CheckDimensions(profile, std::vector<uint64_t>(MaxRank(profile), 2)).ok());
    const absl::Status status = CheckDimensions(profile, std::vector<uint64_t>(MaxRank(profile) + 1, 2));
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "sizes {2,2,")) << status;
    EXPECT_TRUE(absl::IsInvalidArgument(CheckDimensions(profile, {})));
  }
  EXPECT_EQ(MaxRank(Profile::k1_5), 5);
  EXPECT_EQ(MaxRank(Profile::k1_18), 8);
}

TEST(SynapseProfileTest, Release15HasSizesOf32Bits) {
  const uint64_t large = uint64_t{1} << 32;
  EXPECT_TRUE(absl::IsInvalidArgument(ToGeometry_1_5({3, large}).status()));
  EXPECT_EQ(ToGeometry_1_5({3, large - 1})->sizes[1], large - 1);
  EXPECT_EQ(ToGeometry_1_18({3, large})->sizes[1], large);
}

TEST(SynapseProfileTest, GeometriesAreZeroBehindTheirDimensions) {
  const v1_5::synTensorGeometry narrow = *ToGeometry_1_5({3, 4});
  EXPECT_EQ(narrow.dims, 2);
  EXPECT_EQ(narrow.sizes[0], 3);
  EXPECT_EQ(narrow.sizes[2], 0);
  const v1_18::synTensorGeometry wide = *ToGeometry_1_18({3, 4});
  EXPECT_EQ(wide.dims, 2);
  EXPECT_EQ(wide.sizes[1], 4);
  EXPECT_EQ(wide.sizes[24], 0);
}

}  // namespace
}  // namespace hpu::synapse
