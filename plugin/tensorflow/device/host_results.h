// Launch results that the device writes directly to host memory.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "plugin/tensorflow/device/process_device.h"

namespace hpu {

// Whether a launch on compute() may write a result of `bytes` bytes to this host address.
bool TakesHostResult(ProcessDevice& device, const void* data, uint64_t bytes);

// Waits for the compute work queued so far, which writes these results. Returns the error of that work and clears it.
absl::Status WaitForHostResults(ProcessDevice& device);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_
