#include "plugin/testing/synapse_double/runtime/release.h"

#include "plugin/testing/synapse_double/c_api/exports.h"

namespace hpu::synapse_double {
namespace {

using synapse::Generation;

#ifdef SYNAPSE_DOUBLE_1_5

uint32_t DeviceType(Generation generation) {
  switch (generation) {
    case Generation::kGaudi:
      return synapse::synDeviceGaudi;
    case Generation::kGaudi2:
      return synapse::synDeviceGaudi2;
    case Generation::kGaudi3:
      return kUnknownDeviceType;
  }
  return kUnknownDeviceType;
}

constexpr Release kRelease = {5, "1.5.0-double", Generation::kGaudi, DeviceType};

#else

uint32_t DeviceType(Generation generation) {
  switch (generation) {
    case Generation::kGaudi:
      return synapse::synDeviceGaudi;
    case Generation::kGaudi2:
      return synapse::synDeviceGaudi2;
    case Generation::kGaudi3:
      return synapse::synDeviceGaudi3;
  }
  return kUnknownDeviceType;
}

constexpr Release kRelease = {18, "1.18.0-double", Generation::kGaudi2, DeviceType};

#endif

}  // namespace

const Release& ThisRelease() { return kRelease; }

}  // namespace hpu::synapse_double
