// HPU_FILL_MEMORY: fills new device memory with a byte value, to reveal reads of unwritten memory.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_MEMORY_FILL_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_MEMORY_FILL_H_

#include <cstdint>

#include "plugin/tensorflow/device/process_device.h"

namespace hpu {

// Whether HPU_FILL_MEMORY is set. Read once.
bool FillsMemory();

// Fills the range after the compute work queued so far. Waits for the fill, so that copies on other streams run after
// it.
void FillMemory(ProcessDevice& device, hal::DeviceAddress address, uint64_t bytes);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_MEMORY_FILL_H_
