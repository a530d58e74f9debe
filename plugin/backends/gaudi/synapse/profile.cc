#include "plugin/backends/gaudi/synapse/profile.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"

namespace hpu::synapse {
namespace {

struct Release {
  int major;
  int minor;
  Profile profile;
};

constexpr Release kReleases[] = {{1, 5, Profile::k1_5}, {1, 18, Profile::k1_18}, {1, 19, Profile::k1_18}};

// Length of the digits at the beginning of `text`.
size_t DigitCount(absl::string_view text) {
  return std::find_if_not(text.begin(), text.end(), absl::ascii_isdigit) - text.begin();
}

// Finds the first "<major>.<minor>" in `text`.
bool FindRelease(absl::string_view text, int* major, int* minor) {
  while (!text.empty()) {
    const size_t digits = DigitCount(text);
    if (digits == 0) {
      text.remove_prefix(1);
      continue;
    }
    const absl::string_view first = text.substr(0, digits);
    text.remove_prefix(digits);
    if (text.empty() || text[0] != '.') continue;
    const absl::string_view second = text.substr(1, DigitCount(text.substr(1)));
    if (absl::SimpleAtoi(first, major) && absl::SimpleAtoi(second, minor)) return true;
  }
  return false;
}

std::string SupportedReleases() {
  return absl::StrJoin(kReleases, ", ", [](std::string* out, const Release& release) {
    absl::StrAppend(out, release.major, ".", release.minor);
  });
}

template <typename Geometry>
Geometry Fill(Dimensions sizes) {
  Geometry geometry = {};
  std::copy(sizes.begin(), sizes.end(), geometry.sizes);
  geometry.dims = sizes.size();
  return geometry;
}

}  // namespace

absl::string_view ProfileName(Profile profile) { return profile == Profile::k1_5 ? "1.5" : "1.18"; }

absl::StatusOr<Profile> ProfileOfVersion(absl::string_view version) {
  int major = 0;
  int minor = 0;
  if (!FindRelease(version, &major, &minor)) {
    return absl::FailedPreconditionError(absl::StrCat("cannot use SynapseAI: synDriverGetVersion returned \"", version,
                                                      "\", which is not the version of a release; install SynapseAI ",
                                                      SupportedReleases()));
  }
  for (const Release& release : kReleases) {
    if (release.major == major && release.minor == minor) return release.profile;
  }
  return absl::FailedPreconditionError(absl::StrCat("cannot use SynapseAI ", major, ".", minor, " (\"", version,
                                                    "\"): struct layouts and enums of this release are unknown; "
                                                    "install one of the supported releases: ",
                                                    SupportedReleases()));
}

absl::StatusOr<uint32_t> ToDeviceType(Profile profile, Generation generation) {
  const bool is_1_5 = profile == Profile::k1_5;
  switch (generation) {
    case Generation::kGaudi:
      return is_1_5 ? uint32_t{v1_5::synDeviceGaudi} : uint32_t{v1_18::synDeviceGaudi};
    case Generation::kGaudi2:
      return is_1_5 ? uint32_t{v1_5::synDeviceGaudi2} : uint32_t{v1_18::synDeviceGaudi2};
    case Generation::kGaudi3:
      if (!is_1_5) return v1_18::synDeviceGaudi3;
      break;
  }
  return absl::UnimplementedError(absl::StrCat("cannot use device ", GenerationName(generation), ": SynapseAI ",
                                               ProfileName(profile), " does not support it; install a later release"));
}

absl::StatusOr<Generation> ToGeneration(Profile profile, uint32_t device_type) {
  for (const Generation generation : kGenerations) {
    const absl::StatusOr<uint32_t> type = ToDeviceType(profile, generation);
    if (type.ok() && *type == device_type) return generation;
  }
  return absl::UnimplementedError(
      absl::StrCat("cannot use a device of synDeviceType ", device_type, " of SynapseAI ", ProfileName(profile),
                   ": the backend supports Gaudi, Gaudi2 and Gaudi3; select another module with HLS_MODULE_ID"));
}

absl::StatusOr<uint32_t> ToDeviceAttribute(Profile profile, DeviceAttribute attribute) {
  if (profile == Profile::k1_18) return static_cast<uint32_t>(attribute);
  if (attribute == DeviceAttribute::kAddressAlignment) {
    return absl::UnimplementedError(absl::StrCat("cannot query the address alignment: SynapseAI ", ProfileName(profile),
                                                 " has no such attribute; assume 128 bytes"));
  }
  if (attribute == DeviceAttribute::kMaxDimensions) return v1_5::DEVICE_ATTRIBUTE_MAX_DIMS;
  return static_cast<uint32_t>(attribute);
}
static_assert(static_cast<uint32_t>(DeviceAttribute::kMaxDimensions) == v1_18::DEVICE_ATTRIBUTE_MAX_DIMS &&
                  static_cast<uint32_t>(DeviceAttribute::kStreamsTotalBytes) ==
                      v1_5::DEVICE_ATTRIBUTE_STREAMS_TOTAL_MEM_SIZE,
              "DeviceAttribute has the order of synDeviceAttribute in 1.18");

v1_5::synStreamType ToStreamType(Engine engine) {
  switch (engine) {
    case Engine::kDeviceToHost:
      return v1_5::STREAM_TYPE_COPY_DEVICE_TO_HOST;
    case Engine::kHostToDevice:
      return v1_5::STREAM_TYPE_COPY_HOST_TO_DEVICE;
    case Engine::kDeviceToDevice:
      return v1_5::STREAM_TYPE_COPY_DEVICE_TO_DEVICE;
    case Engine::kCompute:
      return v1_5::STREAM_TYPE_COMPUTE;
    case Engine::kCollective:
      return v1_5::STREAM_TYPE_NETWORK_COLLECTIVE;
  }
  return v1_5::STREAM_TYPE_COMPUTE;
}

int MaxRank(Profile profile) {
  return profile == Profile::k1_5 ? int{v1_5::HABANA_DIM_MAX} : int{SYN_GAUDI_MAX_TENSOR_DIM};
}

absl::Status CheckDimensions(Profile profile, Dimensions sizes) {
  const int max_rank = MaxRank(profile);
  if (sizes.empty() || sizes.size() > max_rank) {
    return absl::InvalidArgumentError(absl::StrCat("cannot describe a tensor of sizes {", absl::StrJoin(sizes, ","),
                                                   "}: SynapseAI ", ProfileName(profile), " takes 1 to ", max_rank,
                                                   " dimensions; merge dimensions, or give a scalar the sizes {1}"));
  }
  if (profile == Profile::k1_5) {
    for (const uint64_t size : sizes) {
      if (size > std::numeric_limits<uint32_t>::max()) {
        return absl::InvalidArgumentError(absl::StrCat("cannot describe a tensor of sizes {", absl::StrJoin(sizes, ","),
                                                       "}: SynapseAI ", ProfileName(profile),
                                                       " has 32-bit sizes; split the tensor"));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<v1_5::synTensorGeometry> ToGeometry_1_5(Dimensions sizes) {
  HPU_RETURN_IF_ERROR(CheckDimensions(Profile::k1_5, sizes));
  return Fill<v1_5::synTensorGeometry>(sizes);
}

absl::StatusOr<v1_18::synTensorGeometry> ToGeometry_1_18(Dimensions sizes) {
  HPU_RETURN_IF_ERROR(CheckDimensions(Profile::k1_18, sizes));
  return Fill<v1_18::synTensorGeometry>(sizes);
}

}  // namespace hpu::synapse
