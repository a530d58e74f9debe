// OneDevice: the device assignment of a recipe.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ONE_DEVICE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ONE_DEVICE_H_

#include "xla/service/computation_placer.h"

namespace hpu::emulator {

// An assignment of device 0, for replica-id and collectives of one participant.
inline const xla::DeviceAssignment* OneDevice() {
  static auto* assignment = [] {
    auto* one = new xla::DeviceAssignment(1, 1);
    (*one)(0, 0) = 0;
    return one;
  }();
  return assignment;
}

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ONE_DEVICE_H_
