// Filling of device memory with one byte before its use (HPU_FILL_MEMORY), so that memory that no work wrote shows.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_MEMORY_FILL_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_MEMORY_FILL_H_

#include <cstdint>

#include "plugin/tensorflow/device/process_device.h"

namespace hpu {

// Whether HPU_FILL_MEMORY asks for it. Read once.
bool FillsMemory();

// Fills the range after the compute work queued so far, and waits for it: copies on other streams come after it.
void FillMemory(ProcessDevice& device, hal::DeviceAddress address, uint64_t bytes);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_MEMORY_FILL_H_
