// The SynapseAI release that this library imitates. Each library compiles c_api/release.cc for its release.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_RELEASE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_RELEASE_H_

#include <cstdint>

#include "plugin/backends/gaudi/synapse/generation.h"

namespace hpu::synapse_double {

inline constexpr uint32_t kUnknownDeviceType = 0xFFFFFFFF;

struct Release {
  uint8_t number;       // part of each handle, so that another release refuses it
  const char* version;  // text of synDriverGetVersion
  synapse::Generation default_generation;
  // synDeviceType of a generation; kUnknownDeviceType if the release does not know it.
  uint32_t (*device_type)(synapse::Generation);
};

const Release& ThisRelease();

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_RELEASE_H_
