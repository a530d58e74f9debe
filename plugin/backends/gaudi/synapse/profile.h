// ABI profiles of SynapseAI, and conversions from neutral values to the enums and structs of a profile.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PROFILE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PROFILE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/profile_enum.h"
#include "plugin/backends/gaudi/synapse/types.h"
#include "plugin/backends/gaudi/synapse/v1_18.h"
#include "plugin/backends/gaudi/synapse/v1_5.h"

namespace hpu::synapse {

// "1.5", "1.18"
absl::string_view ProfileName(Profile profile);

// The profile of the release in the text of synDriverGetVersion ("1.18.0-ee698fb"). FailedPrecondition if the text
// names no release, or a release that no profile covers.
absl::StatusOr<Profile> ProfileOfVersion(absl::string_view version);

// synDeviceType of a generation. Unimplemented if the profile does not know the generation.
absl::StatusOr<uint32_t> ToDeviceType(Profile profile, Generation generation);

// Inverse of ToDeviceType. Unimplemented for other devices.
absl::StatusOr<Generation> ToGeneration(Profile profile, uint32_t device_type);

enum class DeviceAttribute {
  kSramBaseAddress,
  kDramBaseAddress,
  kSramBytes,
  kDramBytes,
  kFreeDramBytes,
  kTpcEnabledMask,
  kDramEnabled,
  kDeviceType,
  kClockRate,
  kMaxRmwBytes,
  kStreamsTotalBytes,
  kAddressAlignment,
  kMaxDimensions,
};

// synDeviceAttribute of an attribute. Unimplemented if the profile lacks it.
absl::StatusOr<uint32_t> ToDeviceAttribute(Profile profile, DeviceAttribute attribute);

// Engine of a device that runs a stream's work. Streams of profile 1.18 serve all engines.
enum class Engine { kDeviceToHost, kHostToDevice, kDeviceToDevice, kCompute, kCollective };

v1_5::synStreamType ToStreamType(Engine engine);

// Sizes of a tensor in elements, fastest dimension first. A scalar has one dimension of size 1.
using Dimensions = absl::Span<const uint64_t>;

// Maximum rank of a tensor in a profile.
int MaxRank(Profile profile);

// Checks that a profile can express the sizes: rank 1 to MaxRank, 32-bit sizes in 1.5. InvalidArgument otherwise.
absl::Status CheckDimensions(Profile profile, Dimensions sizes);

// Each of these fails as CheckDimensions does.
absl::StatusOr<v1_5::synTensorGeometry> ToGeometry_1_5(Dimensions sizes);
absl::StatusOr<v1_18::synTensorGeometry> ToGeometry_1_18(Dimensions sizes);

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PROFILE_H_
